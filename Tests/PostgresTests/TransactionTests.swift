import Foundation
import Postgres
import Testing

@Suite("Transactions")
struct TransactionTests {
    private struct Unwanted: Error {}

    /// A table with one row for each number, and a deferred check that refuses 13 at COMMIT.
    private func withTable(_ body: (PostgresPool, String) async throws -> Void) async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let table = TestDatabase.name("numbers")
            _ = try await pool.query(
                SQL(
                    unescaped: "CREATE TABLE \(table) (n int4 PRIMARY KEY, m int4 UNIQUE DEFERRABLE INITIALLY DEFERRED)"
                )
            )
            let result: Result<Void, any Error>
            do { result = .success(try await body(pool, table)) } catch { result = .failure(error) }
            _ = try await pool.query(SQL(unescaped: "DROP TABLE \(table)"))
            try result.get()
        }
    }

    private func insert(_ table: String, _ number: Int32, _ unique: Int32? = nil) -> SQL {
        SQL("INSERT INTO \(table) VALUES ($1, $2)", [.int4(number), .int4(unique)])
    }

    private func numbers(_ pool: PostgresPool, _ table: String) async throws -> [Int] {
        try await pool.query(SQL(unescaped: "SELECT n FROM \(table) ORDER BY n")).map { try $0.get(0) }
    }

    @Test func whatReturnsIsCommitted() async throws {
        try await withTable { pool, table in
            let count = try await pool.withTransaction { transaction in
                _ = try await transaction.query(insert(table, 1))
                return try await transaction.query(insert(table, 2)).affectedRows
            }
            #expect(count == 1)
            #expect(try await numbers(pool, table) == [1, 2])
        }
    }

    @Test func whatThrowsIsRolledBack() async throws {
        try await withTable { pool, table in
            await #expect(throws: Unwanted.self) {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.query(insert(table, 1))
                    throw Unwanted()
                }
            }
            let left = try await numbers(pool, table)
            #expect(left.isEmpty)
        }
    }

    @Test func anErrorOfTheServerEndsAllOfIt() async throws {
        try await withTable { pool, table in
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.query(insert(table, 1))
                    _ = try await transaction.query(insert(table, 1))
                }
            }
            #expect(error?.sqlState == "23505")
            #expect(error?.constraint == "\(table)_pkey")
            #expect(error?.outcomeUnknown == false)
            let left = try await numbers(pool, table)
            #expect(left.isEmpty)
        }
    }

    @Test func anErrorThatIsCaughtDoesNotCommit() async throws {
        try await withTable { pool, table in
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.query(insert(table, 1))
                    _ = try? await transaction.query(SQL("SELECT 1/0"))
                }
            }
            #expect(error?.sqlState == "25P02")
            let left = try await numbers(pool, table)
            #expect(left.isEmpty)
        }
    }

    @Test func anErrorAtCommitIsThrown() async throws {
        try await withTable { pool, table in
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.pipeline([insert(table, 1, 5), insert(table, 2, 5)])
                }
            }
            #expect(error?.sqlState == "23505")
            #expect(error?.outcomeUnknown == false)
            let left = try await numbers(pool, table)
            #expect(left.isEmpty)
        }
    }

    @Test func aPipelineAnswersEachAndStopsAtTheFirstError() async throws {
        try await withTable { pool, table in
            let counts = try await pool.withTransaction { transaction in
                try await transaction.pipeline([
                    insert(table, 1), insert(table, 2), SQL(unescaped: "SELECT n FROM \(table)"),
                ]).map(\.count)
            }
            #expect(counts == [0, 0, 2])
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try await transaction.pipeline([insert(table, 3), insert(table, 1), insert(table, 4)])
                }
            }
            #expect(error?.sqlState == "23505")
            #expect(try await numbers(pool, table) == [1, 2])
        }
    }

    @Test func aScriptRunsWholeAndMixesWithStatements() async throws {
        try await withTable { pool, table in
            try await pool.withTransaction { transaction in
                try await transaction.execute(
                    script: "INSERT INTO \(table) VALUES (1); SELECT 1; -- note\nINSERT INTO \(table) VALUES (2);")
                _ = try await transaction.query(insert(table, 3))
                try await transaction.execute(script: "")
                try await transaction.execute(script: "UPDATE \(table) SET n = n + 10")
            }
            #expect(try await numbers(pool, table) == [11, 12, 13])
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    try await transaction.execute(script: "INSERT INTO \(table) VALUES (9); SELECT nothing;")
                }
            }
            #expect(error?.sqlState == "42703")
            #expect(try await numbers(pool, table) == [11, 12, 13])
        }
    }

    @Test func statementsOfConcurrentChildTasksAllRun() async throws {
        try await withTable { pool, table in
            try await pool.withTransaction { transaction in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<50 {
                        group.addTask {
                            if number % 10 == 0 {
                                try await transaction.execute(script: "INSERT INTO \(table) VALUES (\(number))")
                            } else {
                                _ = try await transaction.query(insert(table, Int32(number)))
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await numbers(pool, table) == Array(0..<50))
        }
    }

    @Test func aTransactionThatIsOverTakesNothingMore() async throws {
        try await withTable { pool, table in
            let escaped = try await pool.withTransaction { $0 }
            #expect(await postgresError { _ = try await escaped.query(insert(table, 1)) }?.code == .transactionOver)
            let left = try await numbers(pool, table)
            #expect(left.isEmpty)
        }
    }

    @Test func waitersAreServedInOrder() async throws {
        let events = LoadEvents()
        try await withPool(observer: events) {
            $0.exclusiveConnections = 1
        } _: { pool in
            let (order, sink) = AsyncStream<Int>.makeStream()
            let tasks = try await pool.withTransaction { _ in
                var tasks: [Task<Void, any Error>] = []
                for number in 0..<5 {
                    tasks.append(Task { try await pool.withTransaction { _ in _ = sink.yield(number) } })
                    try await events.wait(for: .exclusive) { $0.waiting == number + 1 }
                }
                return tasks
            }
            for task in tasks { try await task.value }
            sink.finish()
            #expect(await order.reduce(into: []) { $0.append($1) } == [0, 1, 2, 3, 4])
        }
    }
}
