import Foundation
import Postgres
import Testing

@Suite("Transactions that commit with their last statements")
struct LastStatementsTests {
    private struct Unwanted: Error {}

    private let backend = SQL("SELECT pg_backend_pid()")

    /// One connection for transactions, and a table whose column `m` is checked only at COMMIT.
    private func withTable(_ body: (PostgresPool, String) async throws -> Void) async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let table = TestDatabase.name("last")
            _ = try await pool.query(
                SQL(
                    unescaped: "CREATE TABLE \(table) (n int4 PRIMARY KEY, m int4 UNIQUE DEFERRABLE INITIALLY DEFERRED)"
                )
            )
            let before = try await session(pool)
            let result: Result<Void, any Error>
            do { result = .success(try await body(pool, table)) } catch { result = .failure(error) }
            _ = try await pool.query(SQL(unescaped: "DROP TABLE \(table)"))
            try result.get()
            // In every case the connection is clean afterwards and remains usable.
            #expect(try await session(pool) == before)
        }
    }

    private func session(_ pool: PostgresPool) async throws -> Int {
        try await pool.withTransaction { try await $0.query(backend)[0].get(0, as: Int.self) }
    }

    private func insert(_ table: String, _ number: Int32, _ unique: Int32? = nil) -> SQL {
        SQL("INSERT INTO \(table) VALUES ($1, $2) RETURNING n", [.int4(number), .int4(unique)])
    }

    /// Whether the session's present statement sleeps in the server.
    private func isAsleep(_ session: Int32, _ pool: PostgresPool) async throws -> Bool {
        let sql = "SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'"
        return try await !pool.query(SQL(sql, [.int4(session)])).isEmpty
    }

    private func numbers(_ pool: PostgresPool, _ table: String) async throws -> [Int] {
        try await pool.query(SQL(unescaped: "SELECT n FROM \(table) ORDER BY n")).map { try $0.get(0) }
    }

    @Test func theirAnswersAreReturned() async throws {
        try await withTable { pool, table in
            let (answers, seen) = try await pool.withTransaction { transaction in
                _ = try await transaction.query(insert(table, 1))
                let answers = try await transaction.commit(with: [insert(table, 2), insert(table, 3)])
                // Rows that other sessions see while the body still runs.
                let seen = try await numbers(pool, table)
                return (try answers.map { rows in try rows.map { try $0.get(0, as: Int.self) } }, seen)
            }
            #expect(answers == [[2], [3]])
            #expect(seen == [1, 2, 3])
        }
    }

    @Test func theyMayBeTheFirstStatementsToo() async throws {
        try await withTable { pool, table in
            let answers = try await pool.withTransaction {
                try await $0.commit(with: [insert(table, 1)]).map { try $0[0].get(0, as: Int.self) }
            }
            #expect(answers == [1])
            let left = try await numbers(pool, table)
            #expect(left == [1])
        }
    }

    @Test func thereNeedNotBeAny() async throws {
        try await withTable { pool, table in
            try await pool.withTransaction { transaction in
                _ = try await transaction.query(insert(table, 1))
                let nothing = try await transaction.commit(with: [])
                #expect(nothing.isEmpty)
                let left = try await numbers(pool, table)
                #expect(left == [1])
            }
        }
    }

    @Test func afterThemTheTransactionRunsNoStatement() async throws {
        try await withTable { pool, table in
            try await pool.withTransaction { transaction in
                _ = try await transaction.commit(with: [insert(table, 1)])
                let more = await postgresError { _ = try await transaction.query(insert(table, 2)) }
                #expect(more?.code == .transactionOver)
                let again = await postgresError { _ = try await transaction.commit(with: [insert(table, 3)]) }
                #expect(again?.code == .transactionOver)
            }
            let left = try await numbers(pool, table)
            #expect(left == [1])
        }
    }

    @Test func anErrorAfterThemRollsNothingBack() async throws {
        try await withTable { pool, table in
            await #expect(throws: Unwanted.self) {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.commit(with: [insert(table, 1)])
                    throw Unwanted()
                }
            }
            let left = try await numbers(pool, table)
            #expect(left == [1])
        }
    }

    @Test(arguments: [0, 1]) func whereOneFailsNothingIsCommitted(statementsBefore: Int32) async throws {
        try await withTable { pool, table in
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    for number in 0..<statementsBefore { _ = try await transaction.query(insert(table, 100 + number)) }
                    _ = try await transaction.commit(with: [insert(table, 1), insert(table, 1), insert(table, 2)])
                }
            }
            #expect(error?.sqlState == "23505")
            #expect(error?.constraint == "\(table)_pkey")
            #expect(error?.outcomeUnknown == false)
            let left = try await numbers(pool, table)
            #expect(left.isEmpty)
        }
    }

    @Test func aFailureThatIsCaughtDoesNotCommitEither() async throws {
        try await withTable { pool, table in
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.query(insert(table, 1))
                    _ = try? await transaction.commit(with: [SQL("SELECT 1/0")])
                }
            }
            #expect(error?.sqlState == "25P02")
            let left = try await numbers(pool, table)
            #expect(left.isEmpty)
        }
    }

    @Test func whatTheServerFindsAtCommitIsThrown() async throws {
        try await withTable { pool, table in
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.commit(with: [insert(table, 1, 5), insert(table, 2, 5)])
                }
            }
            #expect(error?.sqlState == "23505")
            #expect(error?.outcomeUnknown == false)
            let left = try await numbers(pool, table)
            #expect(left.isEmpty)
            let caught = await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try? await transaction.commit(with: [insert(table, 1, 5), insert(table, 2, 5)])
                }
            }
            #expect(caught?.sqlState == "23505", "it does not count as committed")
        }
    }

    @Test func afterAFailedStatementTheyFailToo() async throws {
        try await withTable { pool, table in
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try? await transaction.query(SQL("SELECT 1/0"))
                    _ = try await transaction.commit(with: [])
                }
            }
            #expect(error?.sqlState == "25P02")
        }
    }

    @Test func afterAScriptTheyWaitForItsEnd() async throws {
        try await withTable { pool, table in
            try await pool.withTransaction { transaction in
                let own = try await transaction.query(backend)[0].get(0, as: Int32.self)
                async let script: Void = transaction.execute(
                    script: "SELECT pg_sleep(2); INSERT INTO \(table) VALUES (1)")
                try await eventually { try await isAsleep(own, pool) }
                _ = try await transaction.commit(with: [insert(table, 2)])
                try await script
            }
            let left = try await numbers(pool, table)
            #expect(left == [1, 2])
        }
    }

    @Test func aTaskThatIsCancelledMeanwhileHasCommitted() async throws {
        try await withTable { pool, table in
            let task = Task {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.query(insert(table, 1))
                    _ = try await transaction.commit(with: [SQL("SELECT pg_sleep(3)"), insert(table, 2)])
                }
            }
            try await eventually {
                try await pool.query(
                    SQL(
                        "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(3)%' AND wait_event = 'PgSleep'"
                    )
                ).isEmpty == false
            }
            task.cancel()
            try await task.value
            let left = try await numbers(pool, table)
            #expect(left == [1, 2])
        }
    }

    @Test func aConnectionThatIsLostMeanwhileLeavesTheOutcomeUnknown() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    let own = try await transaction.query(backend)[0].get(0, as: Int32.self)
                    async let committed = transaction.commit(with: [SQL("SELECT pg_sleep(60)")])
                    try await eventually { try await isAsleep(own, pool) }
                    _ = try await pool.query(SQL("SELECT pg_terminate_backend($1)", [.int4(own)]))
                    _ = try await committed
                }
            }
            #expect(error?.isUnavailable == true)
            #expect(error?.outcomeUnknown == true)
            try await eventually { (try? await session(pool)) != nil }
        }
    }

    @Test func theDeadlineLeavesTheOutcomeUnknown() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let error = await postgresError {
                try await pool.withTransaction(timeout: .seconds(2)) { transaction in
                    _ = try await transaction.commit(with: [SQL("SELECT pg_sleep(60)")])
                }
            }
            #expect(error?.code == .timedOut)
            #expect(error?.outcomeUnknown == true)
            try await eventually { (try? await session(pool)) != nil }
        }
    }
}
