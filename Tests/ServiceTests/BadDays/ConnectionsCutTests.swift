import Postgres
import Testing

extension BadDays {
    @Suite struct ConnectionsCutTests {
        @Test(.timeLimit(.minutes(10)))
        func connectionsCutUnderLoadLoseNothing() async throws {
            try await BadDay.run { day in
                let relay = try await day.relay()
                let load = SteadyLoad(relay, "cut")
                for round in 1...5 {
                    try await load.accepted(round * 20)
                    // Right after a cut there may be none, until they are made anew.
                    _ = try await Awaiting.fact("connections are cut") {
                        try await TestDatabase.query(
                            on: PrivateCluster.calm().url,
                            SQL(
                                unescaped:
                                    """
                                    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                                    WHERE datname = '\(day.database.name)' AND application_name = 'receipt-relay'
                                    """)
                        ).first?.get(0, as: Int64.self) ?? 0
                    } holds: {
                        $0 > 0
                    }
                }
                try await load.accepted(120)
                let posted = await load.stop()
                #expect(posted.statuses.isSubset(of: [202, 503]), "\(posted.statuses)")
                Measured.note("longest POST while connections are cut", posted.longest)
                #expect(try await AppClient.outcomes(posted.ids, of: relay) == ["granted": posted.ids.count])
                let again = await AppClient.post(posted.filter { $0.status == 503 }.map(\.purchase), to: relay)
                #expect(again.statuses.isSubset(of: [200, 202]), "\(again.statuses)")
                #expect(try await day.control.stats()["overlappingForwards"].int == 0)
                #expect(posted.accepted.count > posted.count / 2)
                Measured.note("503s of \(posted.count) posts, five cuts", "\(posted.count - posted.accepted.count)")
            }
        }
    }
}
