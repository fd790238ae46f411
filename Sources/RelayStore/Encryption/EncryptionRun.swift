import RelayCore

/// Seals a database that is there already, or opens a sealed one again: every private column of every table, bucket by bucket, while no copy
/// runs. It may be broken off and run again.
public struct EncryptionRun: Sendable {
    public enum Direction: Sendable {
        case seal, open
    }

    /// How far it is.
    public struct Progress: Sendable {
        public var table: String
        /// Of 256.
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
    /// - Throws: ``VaultError`` where copies run, where no key is configured or it is the wrong one; ``PostgresError``.
    public func run(_ tell: @Sendable (Progress) -> Void) async throws -> Int {
        let running = try await store.runningInstances()
        guard running.isEmpty else { throw VaultError.copiesRun(running) }
        guard !store.vault.wrappingKeys.isEmpty else { throw VaultError.noKey }
        let (from, by, to): (EncryptionState, EncryptionState, EncryptionState) =
            direction == .seal ? (.plain, .beingSealed, .sealed) : (.sealed, .beingOpened, .plain)
        guard let state = try await store.encryptionState() else {
            // Nothing is there yet: what is configured decides.
            try await store.openVault()
            return 0
        }
        switch state {
        case to:
            store.vault.state = direction == .seal ? .sealed(try await store.vaultKeys()) : .plain
            return 0
        case from, by: break
        case .beingSealed: throw VaultError.underWay("enable")
        case .beingOpened: throw VaultError.underWay("disable")
        case .plain, .sealed: throw VaultError.notSealed
        }
        if state == from { _ = try await store.move(from: from, to: by) }
        let keys = try await store.vaultKeys()
        let changed = try await convert(keys, tell)
        guard try await store.move(from: by, to: to) else { throw VaultError.underWay("status") }
        store.vault.state = direction == .seal ? .sealed(keys) : .plain
        return changed
    }

    private func convert(_ keys: VaultKeys, _ tell: @Sendable (Progress) -> Void) async throws -> Int {
        var changed = 0
        for table in PrivateColumns.all {
            var progress = Progress(table: table.table, bucketsDone: 0, rowsChanged: 0)
            for bucket in Int16(0)...255 {
                progress.rowsChanged += try await store.convert(table, bucket: bucket, keys, direction)
                progress.bucketsDone += 1
                tell(progress)
            }
            changed += progress.rowsChanged
        }
        return changed
    }
}
