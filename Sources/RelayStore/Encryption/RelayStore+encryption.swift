import Crypto
import Foundation
import Postgres
public import RelayCore

/// How the database stands with its seal.
public enum EncryptionState: Int16, Sendable {
    case plain = 0
    case sealed = 1
    /// ``EncryptionRun`` has not come to its end.
    case beingSealed = 2
    case beingOpened = 3
}

/// A data key, as ops sees it.
public struct DataKey: Sendable {
    public var number: Int32
    public var createdAt: Timestamp
    /// The id of the key of the configuration.
    public var wrappedBy: String
}

extension RelayStore {
    private static let stateSQL = "SELECT state FROM encryption"
    private static let keysSQL = "SELECT number, created_at, wrapped_by, wrapped FROM encryption_keys ORDER BY number"
    private static let decideSQL = "INSERT INTO encryption (state) VALUES ($1) ON CONFLICT DO NOTHING RETURNING state"
    private static let moveSQL = "UPDATE encryption SET state = $1, changed_at = now() WHERE state = $2 RETURNING state"
    private static let addKeySQL = "INSERT INTO encryption_keys (number, wrapped_by, wrapped) VALUES ($1, $2, $3)"
    private static let rewrapSQL = "UPDATE encryption_keys SET wrapped_by = $2, wrapped = $3 WHERE number = $1"

    /// Whether anything is there that would have to be sealed.
    private static let hasDataSQL = """
        SELECT EXISTS (SELECT FROM validations) OR EXISTS (SELECT FROM subscriptions) OR EXISTS (SELECT FROM customers)
            OR EXISTS (SELECT FROM billing_customers) OR EXISTS (SELECT FROM notifications)
            OR EXISTS (SELECT FROM cleeng_events)
        """

    private static let privateColumnsSQL = """
        SELECT a.attrelid, a.attnum
        FROM unnest($1::text[], $2::text[]) AS i(name, column_name)
        JOIN pg_attribute a ON a.attrelid = to_regclass(i.name) AND a.attname = i.column_name
        """

    /// From then on reading a private column without opening it fails.
    func readPrivateColumns() async throws {
        let columns = PrivateColumns.all.flatMap { table in table.columns.map { (table.table, $0.name) } }
        let rows = try await pool.query(
            PostgresQuery(Self.privateColumnsSQL, [.textArray(columns.map(\.0)), .textArray(columns.map(\.1))]))
        vault.privateColumns = Set(
            try rows.map { row in
                Vault.columnKey(
                    table: UInt32(truncatingIfNeeded: try row.get(0, as: Int64.self)), column: try row.get(1))
            })
    }

    /// Finds out whether the database is sealed, and opens the vault, or leaves it shut and says why. Where nobody has decided yet it is
    /// decided now: an empty database is sealed where a key is configured.
    ///
    /// - Parameter decides: false leaves an empty database undecided where no key is configured: so that a command does not decide for the
    ///   copies that are to come.
    /// - Throws: ``VaultError``, ``PostgresError``.
    public func openVault(decides: Bool = true) async throws {
        if vault.privateColumns.isEmpty { try await readPrivateColumns() }
        guard let state = try await encryptionState() else {
            guard decides || !vault.wrappingKeys.isEmpty else {
                vault.state = .plain
                return
            }
            try await decide()
            return try await openVault()
        }
        switch state {
        case .plain:
            guard vault.wrappingKeys.isEmpty else { throw VaultError.databaseIsPlain }
            vault.state = .plain
        case .sealed: vault.state = .sealed(try await vaultKeys())
        case .beingSealed: throw VaultError.underWay("enable")
        case .beingOpened: throw VaultError.underWay("disable")
        }
    }

    /// Nil where nobody has decided yet.
    public func encryptionState() async throws -> EncryptionState? {
        guard let row = try await pool.query(PostgresQuery(Self.stateSQL)).first else { return nil }
        let number = try row.get(0, as: Int16.self)
        guard let state = EncryptionState(rawValue: number) else {
            throw StoreError.unknownNumber(column: "encryption.state", number: Int(number))
        }
        return state
    }

    public func dataKeys() async throws -> [DataKey] {
        try await pool.query(PostgresQuery(Self.keysSQL)).map {
            DataKey(number: try $0.get(0), createdAt: try $0.timestamp(1), wrappedBy: try $0.get(2))
        }
    }

    private func decide() async throws {
        if vault.wrappingKeys.isEmpty {
            _ = try await pool.query(PostgresQuery(Self.decideSQL, [.int2(EncryptionState.plain.rawValue)]))
            return
        }
        try await pool.withTransaction { transaction in
            let hasData = try await transaction.query(PostgresQuery(Self.hasDataSQL)).first?.get(0) ?? true
            guard !hasData else { throw VaultError.databaseIsPlain }
            let decided = PostgresQuery(Self.decideSQL, [.int2(EncryptionState.sealed.rawValue)])
            // Another copy was faster: what it decided holds.
            guard try await !transaction.query(decided).isEmpty else { return }
            _ = try await transaction.query(try newKey(number: 1))
        }
    }

    /// All of them, unwrapped.
    func vaultKeys() async throws -> VaultKeys {
        guard !vault.wrappingKeys.isEmpty else { throw VaultError.noKey }
        var keys: [Int32: SymmetricKey] = [:]
        let readAt = ContinuousClock.now
        for row in try await pool.query(PostgresQuery(Self.keysSQL)) {
            let (number, wrappedBy) = (try row.get(0, as: Int32.self), try row.get(2, as: String.self))
            guard let wrapping = vault.wrappingKeys.first(where: { $0.id == wrappedBy }),
                let key = try? wrapping.unwrap(try row.get(3), number: number)
            else { throw VaultError.wrongKey(wanted: wrappedBy) }
            keys[number] = key
        }
        guard let all = VaultKeys(keys, readAt: readAt) else { throw StoreError.missingRow("the first data key") }
        return all
    }

    private func newKey(number: Int32) throws -> PostgresQuery {
        guard let wrapping = vault.wrappingKeys.first else { throw VaultError.noKey }
        let wrapped = try wrapping.wrap(SymmetricKey(size: .bits256), number: number)
        return PostgresQuery(Self.addKeySQL, [.int4(number), .text(wrapping.id), .bytea(wrapped)])
    }

    /// Wraps every data key by the first of the configured keys; the old ones can go from the configuration of all copies then.
    ///
    /// - Parameter addsKey: also makes a new data key, by which bytes are sealed from now on; running copies take it up within a minute.
    /// - Returns: how many were wrapped anew.
    public func rotateKeys(addsKey: Bool) async throws -> Int {
        guard try await encryptionState() == .sealed else { throw VaultError.notSealed }
        guard let current = vault.wrappingKeys.first else { throw VaultError.noKey }
        let rewrapped = try await pool.withTransaction { transaction in
            // One rotation at a time.
            _ = try await transaction.query(PostgresQuery(Self.stateSQL + " FOR UPDATE"))
            var (rewrapped, newest) = (0, Int32(0))
            for row in try await transaction.query(PostgresQuery(Self.keysSQL)) {
                let (number, wrappedBy) = (try row.get(0, as: Int32.self), try row.get(2, as: String.self))
                newest = max(newest, number)
                guard wrappedBy != current.id else { continue }
                guard let old = vault.wrappingKeys.first(where: { $0.id == wrappedBy }),
                    let key = try? old.unwrap(try row.get(3), number: number)
                else { throw VaultError.wrongKey(wanted: wrappedBy) }
                _ = try await transaction.query(
                    PostgresQuery(
                        Self.rewrapSQL,
                        [.int4(number), .text(current.id), .bytea(try current.wrap(key, number: number))]))
                rewrapped += 1
            }
            if addsKey { _ = try await transaction.query(try newKey(number: newest + 1)) }
            return rewrapped
        }
        try await openVault()
        return rewrapped
    }

    /// Moves the state on, and makes the first data key where there is none.
    ///
    /// - Returns: false where the state was another one.
    func move(from: EncryptionState, to: EncryptionState) async throws -> Bool {
        try await pool.withTransaction { transaction in
            let moved = PostgresQuery(Self.moveSQL, [.int2(to.rawValue), .int2(from.rawValue)])
            guard try await !transaction.query(moved).isEmpty else { return false }
            if to == .beingSealed, try await transaction.query(PostgresQuery(Self.keysSQL)).isEmpty {
                _ = try await transaction.query(try newKey(number: 1))
            }
            return true
        }
    }

    private static let runningSQL = "SELECT id FROM instances WHERE seen_at > now() - interval '30 seconds' ORDER BY id"

    /// Copies that were there in the last half minute.
    func runningInstances() async throws -> [String] {
        try await pool.query(PostgresQuery(Self.runningSQL)).map { try $0.get(0) }
    }
}
