import Foundation
import Postgres
import TestRun
import Testing

extension Availability {
    /// Tests of the relay behind PgBouncer, which `scripts/test` installs.
    @Suite(.enabled(if: Pooler.isInstalled, "pgbouncer is not installed: apt-get install pgbouncer"))
    struct PoolerTests {
        /// The pooler has fewer connections to the server than each copy has to the pooler, so statements of one client
        /// use different sessions.
        @Test(.timeLimit(.paced(minutes: 4)))
        func purchasesAreGrantedThroughTransactionMode() async throws {
            try await Self.road(.transaction, connections: 4, settings: ["RELAY_DATABASE_PREPARED_STATEMENTS": "off"])
        }

        @Test(.timeLimit(.paced(minutes: 4)))
        func purchasesAreGrantedThroughSessionMode() async throws {
            try await Self.road(.session, connections: 30, settings: [:])
        }

        /// Behind a pooler in transaction mode, an error names the setting that is missing.
        @Test(.timeLimit(.paced(minutes: 4)))
        func theSettingThatIsMissingIsNamed() async throws {
            let cluster = try await PrivateCluster.calm()
            try await Pooler.run(before: cluster, mode: .transaction, connections: 1) { pooler in
                let direct = try await cluster.database()
                let environment = ["RELAY_DATABASE_URL": pooler.database(direct).url]
                try await BadDay.run(on: direct, settings: environment) { day in
                    let relay = try await day.relay(isReady: false)
                    let said = await relay.process.line {
                        $0.contains("not ready") && $0.contains("PREPARED_STATEMENTS")
                    }
                    #expect(said?.contains("RELAY_DATABASE_PREPARED_STATEMENTS=off") == true)
                    let told = try await ChildProcess.run("receipt-relay", ["keys", "list"], environment: environment)
                    #expect(told.code == 78, "\(told.output)")
                    #expect(told.output.contains { $0.contains("RELAY_DATABASE_PREPARED_STATEMENTS=off") })
                }
            }
        }

        /// Descriptions of the purchases that are not granted, or granted late.
        private static func unfinished(in database: TestDatabase) async throws -> [String] {
            try await database.query(
                SQL(
                    """
                    SELECT format('status %s, accepted %s, %s', v.status, v.accepted_at, to_jsonb(p) - 'customer')
                           || (SELECT coalesce(string_agg(format('; %s %s %s', t.at, t.event, t.detail), '' ORDER BY t.at), '')
                               FROM timeline t WHERE t.bucket = v.bucket AND t.accepted_on = v.accepted_on AND t.id = v.id)
                    FROM validations v LEFT JOIN pursuits p ON p.bucket = v.bucket AND p.id = v.id
                    WHERE v.status <> 1 OR v.late
                    """)
            ).map { try $0.get(0) }
        }

        private static func road(_ mode: Pooler.Mode, connections: Int, settings: [String: String]) async throws {
            let cluster = try await PrivateCluster.calm()
            try await Pooler.run(before: cluster, mode: mode, connections: connections) { pooler in
                let direct = try await cluster.database(migrated: false)
                let database = pooler.database(direct)
                var environment = settings
                environment["RELAY_DATABASE_URL"] = database.url
                // Commands use the pooler too.
                let migrated = try await ChildProcess.run("receipt-relay", ["migrate"], environment: environment)
                #expect(migrated.code == 0, "\(migrated.output)")
                let again = try await ChildProcess.run("receipt-relay", ["migrate"], environment: environment)
                #expect(again.code == 0, "\(again.output)")
                try await BadDay.run(on: direct, settings: environment) { day in
                    async let one = day.relay()
                    async let other = day.relay()
                    let (first, second) = try await (one, other)
                    let load = (SteadyLoad(first, "first"), SteadyLoad(second, "second"))
                    try await load.0.accepted(60)
                    try await load.1.accepted(60)
                    await pooler.kill9()
                    try await Probes(first).become(ready: false)
                    try await pooler.start()
                    let back = ContinuousClock.now
                    try await load.0.accepted(load.0.posted.accepted.count + 30)
                    try await load.1.accepted(load.1.posted.accepted.count + 30)
                    Measured.note("purchases are taken again after the pooler (\(mode))", ContinuousClock.now - back)
                    let posted = await load.0.stop() + load.1.stop()
                    let failed = [first, second].flatMap { $0.process.output.filter { $0.contains(#""status":500"#) } }
                    #expect(posted.statuses.isSubset(of: [202, 503]), "\(failed)")
                    let outcomes = try await AppClient.outcomes(posted.ids, of: first)
                    let unfinished = try await Self.unfinished(in: direct)
                    #expect(outcomes == ["granted": posted.ids.count], "\(unfinished)")
                    #expect(try await day.control.stats()["overlappingForwards"].int == 0)
                    // No session met a prepared statement of another one.
                    for relay in [first, second] {
                        let odd = relay.process.output.filter {
                            $0.contains("prepared statement") || $0.contains("42P05")
                        }
                        #expect(odd == [])
                    }
                    let listed = try await ChildProcess.run(
                        "receipt-relay", ["validations", "list", "--json"], environment: environment)
                    #expect(listed.code == 0, "\(listed.output)")
                    let servers = try await TestDatabase.query(
                        on: direct.url,
                        SQL(
                            """
                            SELECT count(*) FROM pg_stat_activity
                            WHERE datname = $1 AND application_name LIKE 'receipt-relay%'
                            """, [.text(direct.name)]
                        ))
                    let open = try servers[0].get(0, as: Int64.self)
                    #expect(open <= connections)
                    Measured.note("connections to the server for two copies (\(mode))", "\(open)")
                }
            }
        }
    }
}
