import Foundation
import Postgres
import Testing

@Suite("The database goes away and comes back")
struct OutageTests {
    private let ping = SQL("SELECT 1")

    @Test func whatIsInFlightFailsAndThePoolRecoversByItself() async throws {
        let events = LoadEvents()
        let mark = TestDatabase.name("doomed")
        try await withPool(observer: events) {
            $0.applicationName = mark
        } _: { pool in
            let doomed = (0..<40).map { _ in
                Task { try await pool.query(SQL("SELECT pg_sleep(60)"), timeout: .seconds(25)) }
            }
            try await events.wait(for: .shared) { $0.inFlight == 40 }
            try await withPool { other in
                let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1"
                _ = try await other.query(SQL(sql, [.text(mark)]))
            }
            for task in doomed {
                let error = await postgresError { _ = try await task.value }
                #expect(error?.isUnavailable == true)
                #expect(error?.outcomeUnknown == true)
            }
            try await events.wait { if case .connected(.shared, isFirst: false) = $0 { true } else { false } }
            let rows = try await pool.query(ping)
            #expect(rows.count == 1)
        }
    }

    @Test(arguments: ["fast", "immediate"])
    func aServerThatIsStoppedAndStartedAgain(mode: String) async throws {
        let server = try await TestCluster.launch()
        let events = LoadEvents()
        try await withPool(server.connectionString, observer: events) {
            $0.connectionWait = .milliseconds(50)
        } _: { pool in
            let query = SQL("SELECT $1", [.int4(7)])
            _ = try await pool.query(query)
            try await server.stop(mode)
            try await eventually { await postgresError { _ = try await pool.query(query) }?.code == .notConnected }
            for _ in 0..<3 {
                let error = await postgresError { _ = try await pool.query(query) }
                #expect(error?.code == .notConnected)
                #expect(error?.isUnavailable == true)
                #expect(error?.outcomeUnknown == false)
                let transaction = await postgresError { try await pool.withTransaction { _ in } }
                #expect(transaction?.isUnavailable == true)
            }
            try await server.start()
            // The statement was prepared before the stop, and must be prepared again after it.
            try await eventually { (try? await pool.query(query)[0].get(0, as: Int.self)) == 7 }
            try await eventually { (try? await pool.withTransaction { try await $0.query(query).count }) == 1 }
        }
    }

    @Test func aCallThatComesWhileTheServerStartsWaitsForIt() async throws {
        let server = try await TestCluster.launch()
        try await server.stop()
        try await withPool(server.connectionString, awaitsServer: false) {
            $0.connectionWait = .seconds(120)
        } _: { pool in
            let call = Task { try await pool.query(ping, timeout: .seconds(120)) }
            try await server.start()
            #expect(try await call.value.count == 1)
        }
    }

    @Test func waitersFailWhenTheLastConnectionIsLost() async throws {
        let server = try await TestCluster.launch()
        let events = LoadEvents()
        try await withPool(server.connectionString, observer: events) {
            $0.sharedConnections = 1
            $0.pipelineDepth = 1
            $0.connectionWait = .milliseconds(50)
        } _: { pool in
            let calls = (0..<2).map { _ in
                Task { try await pool.query(SQL("SELECT pg_sleep(60)"), timeout: .seconds(25)) }
            }
            try await events.wait(for: .shared) { $0.inFlight == 1 && $0.waiting == 1 }
            try await server.stop("immediate")
            var outcomesUnknown: [Bool] = []
            for call in calls {
                let error = await postgresError { _ = try await call.value }
                #expect(error?.isUnavailable == true)
                #expect((error?.code == .notConnected) == (error?.outcomeUnknown == false))
                outcomesUnknown.append(error?.outcomeUnknown == true)
            }
            #expect(Set(outcomesUnknown) == [true, false])
        }
    }

    @Test func theFirstOfSeveralHostsIsDead() async throws {
        let server = try await TestCluster.launch()
        let dead = try TestCluster.freePort()
        let hosts = "host=127.0.0.1,127.0.0.1 port=\(dead),\(server.port) user=app dbname=postgres"
        try await withPool(hosts) { pool in
            let rows = try await pool.query(SQL("SELECT current_setting('port')"))
            #expect(try rows[0].get(0, as: String.self) == "\(server.port)")
        }
    }

    @Test func theServerThatAcceptsWritesIsChosen() async throws {
        let reader = try await TestCluster.launch(options: ["default_transaction_read_only=on"])
        let writer = try await TestCluster.launch()
        let hosts =
            "postgresql://app@127.0.0.1:\(reader.port),127.0.0.1:\(writer.port)/postgres?target_session_attrs=read-write"
        try await withPool(hosts) { pool in
            let rows = try await pool.query(SQL("SELECT current_setting('port')"))
            #expect(try rows[0].get(0, as: String.self) == "\(writer.port)")
        }
    }

    @Test func aConnectionThatTurnedReadOnlyIsGivenUp() async throws {
        let events = LoadEvents()
        try await withPool(observer: events) {
            $0.sharedConnections = 1
        } _: { pool in
            _ = try await pool.query(SQL("SET default_transaction_read_only = on"))
            let error = await postgresError {
                _ = try await pool.query(SQL(unescaped: "CREATE TABLE \(TestDatabase.name("never")) ()"))
            }
            #expect(error?.sqlState == "25006")
            #expect(error?.isUnavailable == true)
            try await events.wait { if case .connected(.shared, isFirst: false) = $0 { true } else { false } }
            let rows = try await pool.query(SQL("SHOW default_transaction_read_only"))
            #expect(try rows[0].get(0, as: String.self) == "off")
        }
    }

    @Test func aServerThatStopsAnsweringIsGivenUp() async throws {
        let server = try await TestCluster.launch()
        let events = LoadEvents()
        try await withPool(server.connectionString, observer: events) {
            $0.sharedConnections = 1
            $0.statementTimeout = .milliseconds(200)
        } _: { pool in
            let stuck = try await pool.query(SQL("SELECT pg_backend_pid()"))[0].get(0, as: Int32.self)
            #expect(kill(stuck, SIGSTOP) == 0)
            let error = await postgresError { _ = try await pool.query(ping) }
            #expect(error?.code == .timedOut)
            try await events.wait { if case .connected(.shared, isFirst: false) = $0 { true } else { false } }
            let rows = try await pool.query(ping)
            #expect(rows.count == 1)
            kill(stuck, SIGCONT)
        }
    }
}
