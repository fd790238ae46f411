import Foundation
import Postgres
import Testing

@Suite("Transactions that are stopped")
struct TransactionEndTests {
    private let backend = SQL("SELECT pg_backend_pid()")

    private func isRunning(_ pool: PostgresPool, _ mark: String) async throws -> Bool {
        let sql =
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%' || $1 || '%' AND query NOT LIKE '%pg_stat_activity%'"
        return try await pool.query(SQL(sql, [.text(mark)]))[0].get(0, as: Int.self) > 0
    }

    @Test func cancellingTheTaskCancelsTheStatementOnTheServer() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let before = try await pool.withTransaction { try await $0.query(backend)[0].get(0, as: Int.self) }
            let mark = TestDatabase.name("sleep")
            let task = Task {
                try await pool.withTransaction(timeout: .seconds(60)) { transaction in
                    _ = try await transaction.query(SQL(unescaped: "SELECT pg_sleep(60) AS \(mark)"))
                }
            }
            try await eventually { try await isRunning(pool, mark) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await !isRunning(pool, mark))
            let after = try await pool.withTransaction { try await $0.query(backend)[0].get(0, as: Int.self) }
            #expect(after == before)
        }
    }

    @Test func cancellingOneOfManyPipelinedStatementsEndsThemAll() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let before = try await pool.withTransaction { try await $0.query(backend)[0].get(0, as: Int.self) }
            let mark = TestDatabase.name("many")
            let task = Task {
                try await pool.withTransaction(timeout: .seconds(60)) { transaction in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<5 {
                            group.addTask {
                                _ = try await transaction.query(SQL(unescaped: "SELECT pg_sleep(60) AS \(mark)"))
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
            try await eventually { try await isRunning(pool, mark) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let after = try await pool.withTransaction { try await $0.query(backend)[0].get(0, as: Int.self) }
            #expect(after == before)
        }
    }

    @Test func theDeadlineEndsTheStatementAndTheTransaction() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let before = try await pool.withTransaction { try await $0.query(backend)[0].get(0, as: Int.self) }
            let error = await postgresError {
                try await pool.withTransaction(timeout: .milliseconds(100)) { transaction in
                    _ = try await transaction.query(SQL("SELECT pg_sleep(60)"))
                }
            }
            #expect(error?.code == .timedOut)
            #expect(error?.outcomeUnknown == false)
            let after = try await pool.withTransaction { try await $0.query(backend)[0].get(0, as: Int.self) }
            #expect(after == before)
        }
    }

    @Test func aBodyPastItsDeadlineLosesItsConnection() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let error = await postgresError {
                try await pool.withTransaction(timeout: .milliseconds(100)) { transaction in
                    _ = try await transaction.query(backend)
                    // This runs only because the first transaction has ended, although its body still runs.
                    _ = try await pool.withTransaction { try await $0.query(backend) }
                    _ = try await transaction.query(backend)
                }
            }
            #expect(error?.code == .timedOut)
        }
    }

    @Test func aBodyThatReturnsAfterTheDeadlineDoesNotCommit() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let table = TestDatabase.name("late")
            let error = await postgresError {
                try await pool.withTransaction(timeout: .milliseconds(100)) { transaction in
                    _ = try await transaction.query(SQL(unescaped: "CREATE TABLE \(table) ()"))
                    _ = try await pool.withTransaction { try await $0.query(backend) }
                }
            }
            #expect(error?.code == .timedOut)
            let found = try await pool.query(SQL("SELECT to_regclass($1) IS NULL", [.text(table)]))
            #expect(try found[0].get(0, as: Bool.self))
        }
    }

    @Test func waitingForAConnectionHasADeadlineToo() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            try await pool.withTransaction { _ in
                let error = await postgresError {
                    try await pool.withTransaction(timeout: .milliseconds(50)) { _ in }
                }
                #expect(error?.code == .timedOut)
                #expect(error?.outcomeUnknown == false)
            }
        }
    }

    @Test func aLostConnectionUnderATransactionMeansItIsRolledBack() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let error = await postgresError {
                try await pool.withTransaction { transaction in
                    let own = try await transaction.query(backend)[0].get(0, as: Int32.self)
                    _ = try await pool.query(SQL("SELECT pg_terminate_backend($1)", [.int4(own)]))
                    _ = try await transaction.query(SQL("SELECT pg_sleep(60)"))
                }
            }
            #expect(error?.isUnavailable == true)
            #expect(error?.outcomeUnknown == false)
            try await eventually { (try? await pool.withTransaction { try await $0.query(backend).count }) == 1 }
        }
    }

    @Test func aScriptIsStoppedTooAndTheConnectionPipelinesAgain() async throws {
        try await withPool {
            $0.exclusiveConnections = 1
        } _: { pool in
            let before = try await pool.withTransaction { try await $0.query(backend)[0].get(0, as: Int.self) }
            let error = await postgresError {
                try await pool.withTransaction(timeout: .milliseconds(200)) { transaction in
                    try await transaction.execute(script: "SELECT 1; SELECT pg_sleep(60); SELECT 2")
                }
            }
            #expect(error?.code == .timedOut)
            let after = try await pool.withTransaction { transaction in
                try await transaction.pipeline([backend, backend]).map { try $0[0].get(0, as: Int.self) }
            }
            #expect(after == [before, before])
        }
    }
}
