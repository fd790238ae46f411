import NIOConcurrencyHelpers
import Postgres

/// Where a store's statements go: to the pool, or all into one transaction that is under way.
struct Database: Sendable {
    private let pool: PostgresPool
    private let joined: Joined?

    /// A transaction, and what is to be done once it is committed.
    private struct Joined: Sendable {
        let transaction: PostgresTransaction
        let afterCommit = NIOLockedValueBox<[@Sendable () -> Void]>([])
    }

    init(_ pool: PostgresPool) { self.init(pool, nil) }

    private init(_ pool: PostgresPool, _ joined: Joined?) {
        self.pool = pool
        self.joined = joined
    }

    var isTransaction: Bool { joined != nil }
    var hasMetForeignStatement: Bool { pool.hasMetForeignStatement }

    func query(_ sql: SQL, timeout: Duration? = nil) async throws -> PostgresRows {
        guard let joined else { return try await pool.query(sql, timeout: timeout) }
        return try await joined.transaction.query(sql)
    }

    /// Within a transaction the body becomes a part of it, and commits nothing by itself.
    func withTransaction<T: Sendable>(
        timeout: Duration? = nil, _ body: @Sendable (PostgresTransaction) async throws -> T
    ) async throws -> T {
        guard let joined else { return try await pool.withTransaction(timeout: timeout, body) }
        return try await body(joined.transaction)
    }

    /// Runs `body` with all statements in one transaction. Its statements must follow one another.
    func joining<T: Sendable>(
        timeout: Duration? = nil, _ body: @Sendable (Database) async throws -> T
    ) async throws -> T {
        guard !isTransaction else { return try await body(self) }
        let (value, work) = try await pool.withTransaction(timeout: timeout) { transaction in
            let joined = Joined(transaction: transaction.joined)
            let value = try await body(Database(pool, joined))
            return (value, joined.afterCommit.withLockedValue { $0 })
        }
        for step in work { step() }
        return value
    }

    /// Does what must not be done before others can read what was written: at once, or after the transaction's commit.
    func afterCommit(_ step: @escaping @Sendable () -> Void) {
        guard let joined else { return step() }
        joined.afterCommit.withLockedValue { $0.append(step) }
    }
}

extension Database {
    /// Once more where the server has ended the transaction for another's sake.
    func retryingDeadlock<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        // Within a transaction, the code that began it begins it again.
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
    /// Whether two transactions met, and this one would succeed after the other. Two that make the row of the same subscription meet in the
    /// index that the insert waits for, or in the other unique one. A settlement that makes a ledger meets another one that made it meanwhile.
    fileprivate var isConflict: Bool {
        ["40P01", "40001"].contains(sqlState)
            || (sqlState == "23505" && ["subscriptions_owner_no", "ledgers_pkey"].contains(constraint))
    }
}
