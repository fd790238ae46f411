import Postgres
public import RelayCore

/// Why the schema was not migrated.
public struct MigrationError: Error, Equatable, CustomStringConvertible {
    private enum Code: Equatable {
        case edited(String)
        case unknown(Int)
    }

    private let code: Code

    /// A migration was edited after it was applied.
    static func edited(_ name: String) -> MigrationError { MigrationError(code: .edited(name)) }
    /// The database has a migration that is unknown to this version.
    static func unknown(_ number: Int) -> MigrationError { MigrationError(code: .unknown(number)) }

    public var description: String {
        switch code {
        case .edited(let name):
            "migration \(name) was edited after it had been applied: restore the file and put the change into a new one"
        case .unknown(let number):
            "the database has migration \(number), which this version does not know: use the version that applied it, or a newer one"
        }
    }
}

extension SchemaStore {
    private static let appliedRows: SQL = """
        SELECT number, checksum, applied_at FROM schema_migrations ORDER BY number
        """

    /// Applies missing migrations in order, each in its own transaction. Concurrent calls wait for each other.
    ///
    /// - Parameter applied: called after each commit.
    /// - Throws: ``MigrationError``, ``PostgresError``.
    public func migrate(
        _ migrations: [Migration] = Migration.all, applied: @Sendable (Migration) -> Void = { _ in }
    ) async throws {
        try await makeTable()
        // Long enough for reports and dumps to end; after that an operator must act.
        let deadline = ContinuousClock.now + .seconds(600)
        for migration in migrations {
            let isNew = try await retryingLock(deadline: deadline) { transaction in
                _ = try await transaction.query("LOCK TABLE schema_migrations IN EXCLUSIVE MODE")
                // A migration that waits for a lock blocks all later transactions on the table, so it gives up instead.
                _ = try await transaction.query("SET LOCAL lock_timeout = '3s'")
                let done = try Self.applied(try await transaction.query(Self.appliedRows))
                try Self.check(migrations, against: done)
                guard done[migration.number] == nil else { return false }
                try await transaction.execute(script: migration.sql)
                _ = try await transaction.query(
                    """
                    INSERT INTO schema_migrations (number, name, checksum)
                    VALUES (
                        \(.int4(Int32(migration.number))), \(.text(migration.name)), \(.text(migration.checksum)))
                    """)
                return true
            }
            if isNew { applied(migration) }
        }
    }

    /// Retries after a pause if a table that the migration changes is in use.
    private func retryingLock(
        deadline: ContinuousClock.Instant, _ body: @Sendable (PostgresTransaction) async throws -> Bool
    ) async throws -> Bool {
        while true {
            do {
                return try await database.withTransaction(timeout: .seconds(600), body)
            } catch let error as PostgresError where error.sqlState == "55P03" && ContinuousClock.now < deadline {
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Each migration with the time when it was applied; nil: not yet.
    ///
    /// - Parameter toleratesNewer: whether a database migrated by a newer version is accepted. A copy may run while the
    ///   next version is rolled out, because every migration is safe for the version before it.
    /// - Throws: ``MigrationError`` if schema and version do not fit.
    public func status(
        _ migrations: [Migration] = Migration.all, toleratesNewer: Bool = false
    ) async throws -> [(migration: Migration, appliedAt: Timestamp?)] {
        let exists =
            try await database.query("SELECT to_regclass('schema_migrations') IS NOT NULL").first?.get(0) ?? false
        let done = exists ? try Self.applied(try await database.query(Self.appliedRows)) : [:]
        let known = migrations.map(\.number).max() ?? 0
        try Self.check(migrations, against: toleratesNewer ? done.filter { $0.key <= known } : done)
        return migrations.map { ($0, done[$0.number]?.at) }
    }

    /// If two copies create the table at the same instant, one of them fails in the catalog, retries and finds it.
    private func makeTable() async throws {
        let table: SQL = """
            CREATE TABLE IF NOT EXISTS schema_migrations (
                number integer NOT NULL PRIMARY KEY,
                name text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now()
            )
            """
        do {
            _ = try await database.query(table)
        } catch let error as PostgresError where ["23505", "42710", "42P07", "XX000"].contains(error.sqlState) {
            _ = try await database.query(table)
        }
    }

    private static func applied(_ rows: PostgresRows) throws -> [Int: (checksum: String, at: Timestamp)] {
        var applied: [Int: (checksum: String, at: Timestamp)] = [:]
        for row in rows {
            applied[try row.get("number")] = (try row.get("checksum"), try row.timestamp("applied_at"))
        }
        return applied
    }

    private static func check(_ migrations: [Migration], against applied: [Int: (checksum: String, at: Timestamp)])
        throws
    {
        for (number, row) in applied.sorted(by: { $0.key < $1.key }) {
            guard let migration = migrations.first(where: { $0.number == number }) else {
                throw MigrationError.unknown(number)
            }
            guard migration.checksum == row.checksum else { throw MigrationError.edited(migration.name) }
        }
    }
}
