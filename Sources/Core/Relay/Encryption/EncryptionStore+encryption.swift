import Crypto
import Foundation
import Postgres
public import RelayCore

/// Whether the database is sealed.
public enum EncryptionState: Int16, Sendable {
    case plain = 0
    case sealed = 1
    /// ``EncryptionRun`` did not finish.
    case beingSealed = 2
    case beingOpened = 3
}

/// A data key, as operators see it.
public struct DataKey: Sendable {
    public var number: Int32
    public var createdAt: Timestamp
    /// Id of the wrapping key.
    public var wrappedBy: String
    fileprivate var wrapped: [UInt8]

    fileprivate init(_ row: PostgresRow) throws {
        (number, createdAt) = (try row.get("number"), try row.timestamp("created_at"))
        (wrappedBy, wrapped) = (try row.get("wrapped_by"), try row.get("wrapped"))
    }

    fileprivate func unwrapped(by wrappingKeys: [WrappingKey]) throws -> SymmetricKey {
        guard let wrapping = wrappingKeys.first(where: { $0.id == wrappedBy }),
            let key = try? wrapping.unwrap(wrapped, number: number)
        else { throw VaultError.wrongKey(wanted: wrappedBy) }
        return key
    }
}

extension EncryptionStore {
    private static let state: SQL = "SELECT state FROM encryption"
    private static let keys: SQL = """
        SELECT number, created_at, wrapped_by, wrapped FROM encryption_keys ORDER BY number
        """

    /// Reads which columns are private. Afterwards, reading one without opening it fails.
    func readPrivateColumns() async throws {
        let columns = memory.privateColumns.flatMap { table in table.columns.map { (table.table, $0.name) } }
        let table: SQLTable = [
            "table_name": .textArray(columns.map(\.0)), "column_name": .textArray(columns.map(\.1)),
        ]
        let rows = try await database.query(
            """
            SELECT a.attrelid, a.attnum
            FROM \(table, as: "i")
            JOIN pg_attribute a ON a.attrelid = to_regclass(i.table_name) AND a.attname = i.column_name
            """)
        memory.vault.privateColumns = Set(
            try rows.map { row in
                Vault.columnKey(
                    table: UInt32(truncatingIfNeeded: try row.get("attrelid", as: Int64.self)),
                    column: try row.get("attnum"))
            })
    }

    /// Opens the vault according to the state of the database. If the state is undecided, it is decided now: without a
    /// configured key the database stays unsealed; with one it becomes sealed, and must be empty.
    ///
    /// - Parameter decides: if false and no key is configured, the state stays undecided. A command must not decide for
    ///   copies that start later.
    /// - Throws: ``VaultError``, ``PostgresError``.
    public func openVault(decides: Bool = true) async throws {
        if memory.vault.privateColumns.isEmpty { try await readPrivateColumns() }
        guard let state = try await state() else {
            guard decides || !memory.vault.wrappingKeys.isEmpty else {
                memory.vault.state = .plain
                return
            }
            try await decide()
            return try await openVault()
        }
        switch state {
        case .plain:
            guard memory.vault.wrappingKeys.isEmpty else { throw VaultError.databaseIsPlain }
            memory.vault.state = .plain
        case .sealed: memory.vault.state = .sealed(try await vaultKeys())
        case .beingSealed: throw VaultError.underWay("enable")
        case .beingOpened: throw VaultError.underWay("disable")
        }
    }

    /// Nil if it is not decided yet.
    public func state() async throws -> EncryptionState? {
        try await database.query(Self.state).first.map { try $0.constant("state") }
    }

    public func dataKeys() async throws -> [DataKey] {
        try await database.query(Self.keys).map(DataKey.init)
    }

    private static func decide(_ state: EncryptionState) -> SQL {
        "INSERT INTO encryption (state) VALUES (\(state)) ON CONFLICT DO NOTHING RETURNING state"
    }

    private func decide() async throws {
        if memory.vault.wrappingKeys.isEmpty {
            _ = try await database.query(Self.decide(.plain))
            return
        }
        try await database.withTransaction { transaction in
            let tables =
                ["validations", "subscriptions", "customers", "notifications"]
                + memory.tables.flatMap(\.sealed).map(\.table)
            let exist = tables.map { "EXISTS (SELECT FROM \($0))" }.joined(separator: " OR ")
            let hasData = try await transaction.query("SELECT \(unescaped: exist)").first?.get(0) ?? true
            guard !hasData else { throw VaultError.databaseIsPlain }
            // The result is empty if another copy decided first.
            guard try await !transaction.query(Self.decide(.sealed)).isEmpty else { return }
            _ = try await transaction.query(try newKey(number: 1))
        }
    }

    /// All data keys, unwrapped.
    func vaultKeys() async throws -> VaultKeys {
        guard !memory.vault.wrappingKeys.isEmpty else { throw VaultError.noKey }
        let readAt = ContinuousClock.now
        var keys: [Int32: SymmetricKey] = [:]
        for key in try await dataKeys() { keys[key.number] = try key.unwrapped(by: memory.vault.wrappingKeys) }
        guard let all = VaultKeys(keys, readAt: readAt) else { throw StoreError.missingRow("the first data key") }
        return all
    }

    private func newKey(number: Int32) throws -> SQL {
        guard let wrapping = memory.vault.wrappingKeys.first else { throw VaultError.noKey }
        let wrapped = try wrapping.wrap(SymmetricKey(size: .bits256), number: number)
        return """
            INSERT INTO encryption_keys (number, wrapped_by, wrapped)
            VALUES (\(.int4(number)), \(.text(wrapping.id)), \(.bytea(wrapped)))
            """
    }

    /// Wraps all data keys with the first configured key. The other keys can then be removed from the configuration of
    /// all copies.
    ///
    /// - Parameter addsKey: adds a data key, which seals bytes from now on. Running copies read it within a minute.
    /// - Returns: how many keys were wrapped again.
    public func rotateKeys(addsKey: Bool) async throws -> Int {
        guard try await state() == .sealed else { throw VaultError.notSealed }
        guard let current = memory.vault.wrappingKeys.first else { throw VaultError.noKey }
        let rewrapped = try await database.withTransaction { transaction in
            // The lock allows one rotation at a time.
            _ = try await transaction.query(Self.state + " FOR UPDATE")
            var (rewrapped, newest) = (0, Int32(0))
            for row in try await transaction.query(Self.keys) {
                let key = try DataKey(row)
                newest = max(newest, key.number)
                guard key.wrappedBy != current.id else { continue }
                let wrapped = try current.wrap(try key.unwrapped(by: memory.vault.wrappingKeys), number: key.number)
                _ = try await transaction.query(
                    """
                    UPDATE encryption_keys SET wrapped_by = \(.text(current.id)), wrapped = \(.bytea(wrapped))
                    WHERE number = \(.int4(key.number))
                    """)
                rewrapped += 1
            }
            if addsKey { _ = try await transaction.query(try newKey(number: newest + 1)) }
            return rewrapped
        }
        try await openVault()
        return rewrapped
    }

    /// Changes the state, and creates the first data key if there is none.
    ///
    /// - Returns: false if the database was in another state than `from`.
    func move(from: EncryptionState, to: EncryptionState) async throws -> Bool {
        try await database.withTransaction { transaction in
            let moved = try await transaction.query(
                """
                UPDATE encryption SET state = \(to), changed_at = now() WHERE state = \(from) RETURNING state
                """)
            guard !moved.isEmpty else { return false }
            if to == .beingSealed, try await transaction.query(Self.keys).isEmpty {
                _ = try await transaction.query(try newKey(number: 1))
            }
            return true
        }
    }
}
