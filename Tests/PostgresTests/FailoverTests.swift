import Foundation
import Postgres
import Testing

@Suite("One of several servers takes writes, and not always the same")
struct FailoverTests {
    /// Port of the answering server.
    private func port(of pool: PostgresPool) async throws -> String {
        try await pool.query(SQL("SELECT current_setting('port')"))[0].get(0, as: String.self)
    }

    private func hosts(_ ports: Int...) -> String {
        "postgresql://app@" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",") + "/postgres"
    }

    @Test func theServerThatAcceptsWritesIsChosenByDefault() async throws {
        let reader = try await TestCluster.launch(options: ["default_transaction_read_only=on"])
        let writer = try await TestCluster.launch()
        let answering = try await withPool(hosts(reader.port, writer.port)) { try await port(of: $0) }
        #expect(answering == "\(writer.port)")
        try await withPool(hosts(reader.port), awaitsServer: false) {
            $0.connectionWait = .milliseconds(200)
        } _: { pool in
            var error: PostgresError?
            try await eventually {
                error = await postgresError { _ = try await port(of: pool) }
                return error?.serverMessage.contains("read-only") == true
            }
            #expect(error?.isUnavailable == true)
        }
    }

    /// The kernel accepts connections to the first host, but the host never answers. That is like a host behind a
    /// firewall that drops packets, except that connect(2) returns and the first read does not. `connect_timeout`
    /// covers both.
    @Test func aFirstHostThatDropsPacketsCostsSecondsOnce() async throws {
        let hole = try SilentServer()
        let server = try await TestCluster.launch()
        let events = LoadEvents()
        let began = ContinuousClock.now
        try await withPool(hosts(hole.port, server.port), observer: events) {
            $0.sharedConnections = 1
            $0.exclusiveConnections = 1
            $0.failoverConnectTimeout = .seconds(8)
        } _: { pool in
            #expect(try await port(of: pool) == "\(server.port)")
            let first = ContinuousClock.now - began
            print("measured: first connection past a host that swallows everything: \(first)")
            let cut = ContinuousClock.now
            _ = try? await pool.query(SQL("SELECT pg_terminate_backend(pg_backend_pid())"))
            try await events.wait { if case .connected(.shared, isFirst: false) = $0 { true } else { false } }
            let second = ContinuousClock.now - cut
            #expect(second < .seconds(8), "it is not waited for again")
            print("measured: connection made anew past it: \(second)")
        }
    }

    /// `a` is the primary and dies, and the pool moves to `b`. Then `a` returns, writable, and is first in the string.
    /// New connections stay with `b`.
    @Test func aReturnedServerIsNotUsedWhileTheOtherAnswers() async throws {
        let a = try await TestCluster.launch()
        let b = try await TestCluster.launch()
        let events = LoadEvents()
        try await withPool(hosts(a.port, b.port), observer: events) {
            $0.sharedConnections = 1
        } _: { pool in
            #expect(try await port(of: pool) == "\(a.port)")
            try await a.stop("immediate")
            try await eventually { (try? await port(of: pool)) == "\(b.port)" }
            try await a.start()
            for _ in 0..<3 {
                _ = try? await pool.query(SQL("SELECT pg_terminate_backend(pg_backend_pid())"))
                try await eventually { (try? await port(of: pool)) != nil }
                #expect(try await port(of: pool) == "\(b.port)")
            }
            try await b.stop("immediate")
            try await eventually { (try? await port(of: pool)) == "\(a.port)" }
        }
    }

    /// PostgreSQL's wait for a missing standby ends with success and a warning if the statement is cancelled, also by
    /// statement_timeout. Only one server has the row then.
    @Test func aCommitThatNoStandbyConfirmedIsNotCalledASuccess() async throws {
        let server = try await TestCluster.launch(options: ["synchronous_standby_names=nobody"])
        try await withPool(server.connectionString + " options='-c synchronous_commit=local'") { hand in
            _ = try await hand.query(SQL("CREATE TABLE t (n int4)"))
            try await withPool(server.connectionString) { pool in
                let insert = SQL("INSERT INTO t VALUES (1)")
                async let single = postgresError { _ = try await pool.query(insert) }
                async let transaction = postgresError {
                    _ = try await pool.withTransaction { try await $0.query(insert) }
                }
                let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                try await eventually { try await hand.query(SQL(unescaped: "SELECT \(waiting)")).count == 2 }
                _ = try await hand.query(SQL(unescaped: "SELECT pg_cancel_backend(pid) \(waiting)"))
                for error in [await single, await transaction] {
                    #expect(error?.code == .timedOut)
                    #expect(error?.outcomeUnknown == true)
                }
                #expect(try await hand.query(SQL("SELECT FROM t")).count == 2)
                // The connection is clean for later statements.
                #expect(try await pool.query(SQL("SELECT 1")).count == 1)
                #expect(try await pool.withTransaction { try await $0.query(SQL("SELECT 1")).count } == 1)
            }
        }
    }
}
