import Foundation
import Postgres
import Testing

@Suite("Nobody waits for ever")
struct DeadlineTests {
    private let backend = SQL("SELECT pg_backend_pid()")

    @Test func aCallerGivesUpAndTheConnectionLivesOn() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            let before = try await pool.query(backend)[0].get(0, as: Int.self)
            let error = await postgresError {
                _ = try await pool.query(SQL("SELECT pg_sleep(4)"), timeout: .seconds(1))
            }
            #expect(error?.code == .timedOut)
            #expect(error?.outcomeUnknown == true)
            #expect(error?.isUnavailable == false)
            #expect(try await pool.query(backend)[0].get(0, as: Int.self) == before)
        }
    }

    @Test func theServerEndsAbandonedStatements() async throws {
        try await withPool {
            $0.sharedConnections = 1
            $0.statementTimeout = .milliseconds(300)
        } _: { pool in
            let before = try await pool.query(backend)[0].get(0, as: Int.self)
            let error = await postgresError {
                _ = try await pool.query(SQL("SELECT pg_sleep(600)"), timeout: .milliseconds(20))
            }
            #expect(error?.code == .timedOut)
            // This statement follows the abandoned one on the same connection.
            try await eventually { (try? await pool.query(backend)[0].get(0, as: Int.self)) == before }
        }
    }

    @Test func othersAvoidAConnectionThatMayBeStuck() async throws {
        let events = LoadEvents()
        try await withPool(observer: events) { pool in
            try await events.wait(for: .shared) { $0.connected == 2 }
            let blocked = SQL("SELECT pg_sleep(20)")
            #expect(
                await postgresError { _ = try await pool.query(blocked, timeout: .milliseconds(20)) }?.code == .timedOut
            )
            for _ in 0..<20 { _ = try await pool.query(backend, timeout: .seconds(10)) }
        }
    }

    @Test func aCancelledCallerReturnsAtOnce() async throws {
        let events = LoadEvents()
        try await withPool(observer: events) { pool in
            let tasks = (0..<2).map { _ in Task { try await pool.query(SQL("SELECT pg_sleep(20)")) } }
            try await events.wait(for: .shared) { $0.inFlight == 2 }
            for task in tasks {
                task.cancel()
                await #expect(throws: CancellationError.self) { _ = try await task.value }
            }
        }
    }

    @Test func aCancelledCallersAnswerGoesToNoOtherCaller() async throws {
        try await withPool {
            $0.sharedConnections = 1
        } _: { pool in
            let task = Task { try await pool.query(SQL("SELECT pg_sleep(0.2)")) }
            task.cancel()
            _ = await task.result
            let own = try await pool.query(SQL("SELECT 'own'"))
            #expect(try own[0].get(0, as: String.self) == "own")
        }
    }

    @Test func aTaskThatIsCancelledBeforehandSendsNothing() async throws {
        try await withPool { pool in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                _ = try await pool.query(backend)
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func oneCallerTooManyIsRefusedAtOnce() async throws {
        let events = LoadEvents()
        try await withPool(observer: events) {
            $0.sharedConnections = 1
            $0.pipelineDepth = 1
            $0.maxWaiting = 2
        } _: { pool in
            let key = Int64.random(in: 0 ... .max)
            try await pool.withTransaction { transaction in
                _ = try await transaction.query(SQL("SELECT pg_advisory_xact_lock($1)", [.int8(key)]))
                let waiters = (0..<3).map { _ in
                    Task { try await pool.query(SQL("SELECT pg_advisory_xact_lock($1)", [.int8(key)])) }
                }
                try await events.wait(for: .shared) { $0.inFlight == 1 && $0.waiting == 2 }
                let error = await postgresError { _ = try await pool.query(backend) }
                #expect(error?.code == .overloaded)
                #expect(error?.isUnavailable == false)
                for waiter in waiters { waiter.cancel() }
            }
        }
    }
}
