import NIOConcurrencyHelpers
package import Postgres

/// Target of a store's statements: the pool, or one running transaction.
package struct Database: Sendable {
    private let pool: PostgresPool
    private let joined: Joined?

    /// A transaction and the steps that follow its commit.
    private struct Joined: Sendable {
        let transaction: PostgresTransaction
        let afterCommit = NIOLockedValueBox<[@Sendable () -> Void]>([])

        func takeSteps() -> [@Sendable () -> Void] {
            afterCommit.withLockedValue { steps in
                defer { steps = [] }
                return steps
            }
        }
    }

    init(_ pool: PostgresPool) { self.init(pool, nil) }

    private init(_ pool: PostgresPool, _ joined: Joined?) {
        self.pool = pool
        self.joined = joined
    }

    var isTransaction: Bool { joined != nil }
    var hasMetForeignStatement: Bool { pool.hasMetForeignStatement }

    package func query(_ sql: SQL, timeout: Duration? = nil) async throws -> PostgresRows {
        guard let joined else { return try await pool.query(sql, timeout: timeout) }
        return try await joined.transaction.query(sql)
    }

    /// Runs `body` in a transaction. Inside a running transaction, `body` joins it and does not commit.
    package func withTransaction<T: Sendable>(
        timeout: Duration? = nil, _ body: @Sendable (PostgresTransaction) async throws -> T
    ) async throws -> T {
        guard let joined else { return try await pool.withTransaction(timeout: timeout, body) }
        return try await body(joined.transaction)
    }

    /// Runs `body` with all statements in one transaction. The statements must not run concurrently.
    func joining<T: Sendable>(
        timeout: Duration? = nil, _ body: @Sendable (Database) async throws -> T
    ) async throws -> T {
        guard !isTransaction else { return try await body(self) }
        let (value, work) = try await pool.withTransaction(timeout: timeout) { transaction in
            let joined = Joined(transaction: transaction.joined)
            // A step may hold the database that it was given to, which holds the steps.
            defer { _ = joined.takeSteps() }
            let value = try await body(Database(pool, joined))
            return (value, joined.takeSteps())
        }
        for step in work { step() }
        return value
    }

    /// Runs a step that must wait until other connections can read the written rows: at once, or after the
    /// transaction's commit.
    func afterCommit(_ step: @escaping @Sendable () -> Void) {
        guard let joined else { return step() }
        joined.afterCommit.withLockedValue { $0.append(step) }
    }
}

extension Database {
    /// Runs `body` again if the server ended the transaction because of a conflict with another one.
    func retryingConflicts<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        // Inside a running transaction, the code that began it retries the whole.
        guard !isTransaction else { return try await body() }
        for _ in 0..<Self.mostConflicts {
            do {
                return try await body()
            } catch let error as PostgresError where error.isConflict {
                continue
            }
        }
        return try await body()
    }

    private static let mostConflicts = 4
}

extension PostgresError {
    /// Whether this transaction conflicted with another one and can succeed after it. Two inserts of the same
    /// subscription's row conflict in either of its unique indexes. A settlement that inserts a ledger conflicts with
    /// another one that has just inserted it.
    fileprivate var isConflict: Bool {
        ["40P01", "40001"].contains(sqlState)
            || (sqlState == "23505" && ["subscriptions_owner_no", "ledgers_pkey"].contains(constraint))
    }
}
