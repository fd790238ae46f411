import Logging
import Postgres

/// A transaction that reads once and then stays open, like a forgotten session or a long report. While it lasts, no row
/// that dies after its snapshot can be vacuumed.
enum HeldSnapshot {
    /// - Throws: errors of `body`, and an error if the transaction did not keep its snapshot to the end.
    static func during<T: Sendable>(
        _ database: TestDatabase, _ body: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        var configuration = PostgresConfiguration(connectionString: database.url)
        configuration.sharedConnections = 1
        configuration.exclusiveConnections = 1
        configuration.idleInTransactionTimeout = .seconds(1_200)
        configuration.connectionWait = .seconds(20)
        let pool = PostgresPool(configuration, logger: Logger(label: "snapshot"))
        let running = Task { await pool.run() }
        defer { running.cancel() }
        return try await pool.withTransaction(timeout: .seconds(1_200)) { transaction in
            _ = try await transaction.query(SQL("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            let before = try await count(transaction)
            let result = try await body()
            guard try await count(transaction) == before else {
                throw HarnessError.failed("holding a snapshot", ["it has moved on"])
            }
            return result
        }
    }

    private static func count(_ transaction: PostgresTransaction) async throws -> Int {
        try await transaction.query(SQL("SELECT count(*) FROM validations")).first?.get(0) ?? -1
    }
}
