import Foundation
import Testing

@testable import Postgres

@Suite("A pool that is shut down")
struct ShutdownTests {
    @Test func failsWhatRunsAndWhatWaitsAndClosesEverything() async throws {
        let mark = TestDatabase.name("closing")
        let events = LoadEvents()
        var configuration = PostgresConfiguration(connectionString: try await TestDatabase.connectionString())
        configuration.applicationName = mark
        configuration.sharedConnections = 1
        configuration.exclusiveConnections = 1
        configuration.pipelineDepth = 1
        configuration.connectionWait = .seconds(120)
        configuration.queryTimeout = .seconds(120)
        let pool = PostgresPool(configuration, logger: .silent, observer: events)
        let running = Task { await pool.run() }
        let sleep = SQL("SELECT pg_sleep(20)")
        let calls = (0..<2).map { _ in Task { _ = try await pool.query(sleep) } }
        try await events.wait(for: .shared) { $0.inFlight == 1 && $0.waiting == 1 }
        let transactions = (0..<2).map { _ in
            Task { try await pool.withTransaction { _ = try await $0.query(sleep) } }
        }
        try await events.wait(for: .exclusive) { $0.inFlight == 1 && $0.waiting == 1 }

        running.cancel()
        await running.value
        for task in calls + transactions {
            #expect(await postgresError { try await task.value }?.code == .closed)
        }
        #expect(await postgresError { _ = try await pool.query(sleep) }?.code == .closed)
        #expect(await postgresError { try await pool.withTransaction { _ in } }?.code == .closed)
        try await withPool { other in
            let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND state <> 'active'"
            try await eventually {
                try await other.query(SQL(sql, [.text(mark)]))[0].get(0, as: Int.self) == 0
            }
        }
    }

    @Test func endsPromptlyWhileItIsStillConnecting() async throws {
        // A socket that accepts connections and never sends a byte.
        let port = try SilentServer()
        var configuration = PostgresConfiguration(connectionString: "host=127.0.0.1 port=\(port.port) user=app")
        configuration.connectTimeout = .seconds(60)
        let pool = PostgresPool(configuration, logger: .silent)
        let running = Task { await pool.run() }
        try await within(.seconds(180)) { try await eventually { port.hasVisitor } }
        running.cancel()
        try await within(.seconds(180)) { await running.value }
    }

    @Test func endsItsThreadWhenNobodyHoldsItAnyMore() async throws {
        weak var loop: EventLoop?
        do {
            let owner = EventLoopOwner()
            loop = owner.loop
            #expect(loop != nil)
        }
        try await eventually { loop == nil }
    }

    @Test func neverRunItSaysThatNoConnectionIsUp() async throws {
        var configuration = PostgresConfiguration(connectionString: "host=127.0.0.1")
        configuration.connectionWait = .milliseconds(20)
        let pool = PostgresPool(configuration, logger: .silent)
        let error = await postgresError { _ = try await pool.query(SQL("SELECT 1")) }
        #expect(error?.code == .notConnected)
    }
}
