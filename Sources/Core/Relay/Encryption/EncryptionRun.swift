import Postgres
import RelayCore

/// Seals an existing database, or opens a sealed one: every private column of every table, bucket by bucket, while no
/// copy runs. It can be interrupted and run again, because `sealed_by` shows which rows are left.
public struct EncryptionRun: Sendable {
    public enum Direction: Sendable {
        case seal, open
    }

    /// Progress in one table.
    public struct Progress: Sendable {
        public var table: String
        /// Number of buckets done, out of 256.
        public var bucketsDone: Int
        public var rowsChanged: Int
    }

    let store: RelayStore
    let direction: Direction

    public init(store: RelayStore, direction: Direction) {
        self.store = store
        self.direction = direction
    }

    /// - Returns: how many rows were changed.
    /// - Throws: ``VaultError`` if copies run, if no key or the wrong one is configured, or if rows are left in the
    ///   end; ``PostgresError``.
    public func run(_ tell: @Sendable (Progress) -> Void) async throws -> Int {
        let running = try await runningInstances()
        guard running.isEmpty else { throw VaultError.copiesRun(running) }
        guard !store.memory.vault.wrappingKeys.isEmpty else { throw VaultError.noKey }
        let (from, by, to): (EncryptionState, EncryptionState, EncryptionState) =
            direction == .seal ? (.plain, .beingSealed, .sealed) : (.sealed, .beingOpened, .plain)
        guard let state = try await store.encryption.state() else {
            // The database is empty, so the configuration decides.
            try await store.encryption.openVault()
            return 0
        }
        switch state {
        case from, by: break
        // Sealing runs again: copies of the previous version may have left rows unsealed. Opening leaves none.
        case to where direction == .seal: break
        case to:
            store.memory.vault.state = .plain
            return 0
        case .beingSealed: throw VaultError.underWay("enable")
        case .beingOpened: throw VaultError.underWay("disable")
        case .plain, .sealed: throw VaultError.notSealed
        }
        try await checkEveryTableIsKnown()
        if state == from { _ = try await store.encryption.move(from: from, to: by) }
        var keys = try await store.encryption.vaultKeys()
        // The keys are complete: no other copy runs that could create one.
        keys.readAt = nil
        store.memory.vault.state = direction == .seal ? .sealed(keys) : .opening(keys)
        let changed = try await convert(tell)
        try await checkNothingIsLeft()
        if state != to {
            guard try await store.encryption.move(from: by, to: to) else { throw VaultError.underWay("status") }
        }
        if direction == .open { store.memory.vault.state = .plain }
        return changed
    }

    /// Copies that reported within the last half minute.
    private func runningInstances() async throws -> [String] {
        let recent: SQL = "SELECT id FROM instances WHERE seen_at > now() - interval '30 seconds' ORDER BY id"
        return try await store.database.query(recent).map { try $0.get("id") }
    }

    /// A build without a feature cannot convert the feature's rows. They would stay sealed by a key that is gone, or unsealed.
    private func checkEveryTableIsKnown() async throws {
        let known = Set(store.memory.privateColumns.map(\.table))
        var unknown: [String] = []
        for table in try await store.encryption.sealableTables() where !known.contains(table) {
            let count = try await store.encryption.countLeft(of: table, direction)
            if count > 0 { unknown.append("\(count) of \(table)") }
        }
        guard unknown.isEmpty else { throw VaultError.unknownRows(unknown) }
    }

    private func convert(_ tell: @Sendable (Progress) -> Void) async throws -> Int {
        var changed = 0
        for table in store.memory.privateColumns {
            var progress = Progress(table: table.table, bucketsDone: 0, rowsChanged: 0)
            for bucket in Int16(0)...255 {
                progress.rowsChanged += try await store.encryption.convert(table, bucket: bucket, direction)
                progress.bucketsDone += 1
                tell(progress)
            }
            changed += progress.rowsChanged
        }
        return changed
    }

    private func checkNothingIsLeft() async throws {
        var left: [String] = []
        for table in store.memory.privateColumns {
            let count = try await store.encryption.countLeft(of: table.table, direction)
            if count > 0 { left.append("\(count) of \(table.table)") }
        }
        guard left.isEmpty else { throw VaultError.rowsLeft(left, direction == .seal ? "enable" : "disable") }
    }
}
