import Foundation
import Postgres
import TestRun
import Testing

extension DatabaseDays {
    @Suite struct DatabaseGoneTests {
        @Test(.timeLimit(.paced(minutes: 4)))
        func noAcceptedPurchaseIsLostWhenTheDatabaseCrashesUnderLoad() async throws {
            let cluster = try await PrivateCluster.crashing()
            try await BadDay.run(in: cluster) { day in
                let relay = try await day.relay()
                // Accepted before the crash, and not granted by then.
                try await day.control.behave("held@example.test", "never")
                let held = try #require(
                    await AppClient.post(TestPurchase(email: "held@example.test"), to: relay).id)
                let poll = Task { try await AppClient.poll(held, of: relay, wait: 60) }
                let load = SteadyLoad(relay, "crash")
                try await load.accepted(60)
                await cluster.crash()
                // The very first call finds it.
                try await Probes(relay).areNotReady(missing: "database")
                let refused = await AppClient.post(AppClient.purchases(20, "away"), to: relay, width: 20)
                for posted in refused { Probes.isUnavailable(posted) }
                Measured.note("longest 503 while the database is away", refused.longest)
                // Requests for one subscription are stored one after the other. Their waits must not add up.
                let original = TestPurchase.newTransactionID()
                let same = (0..<20).map { TestPurchase(email: "same-\($0)@example.test", original: original) }
                let queued = await AppClient.post(same, to: relay, width: 20)
                for posted in queued { Probes.isUnavailable(posted) }
                // Each request waits at most this long for a connection. Twenty in a row would wait twenty times as
                // long.
                let wait = PostgresConfiguration(connectionString: "").connectionWait
                #expect(queued.longest < wait * 8)
                Measured.note("longest 503 of 20 for one subscription", queued.longest)
                #expect(try await AppClient.poll(held, of: relay).status == 503)

                try await cluster.start()
                let back = ContinuousClock.now
                try await day.control.entitle("held@example.test", to: "S123456789_US", status: "active")
                try await Probes(relay).become(ready: true)
                Measured.note("ready after the database came back", ContinuousClock.now - back)
                let before = load.posted.accepted.count
                try await load.accepted(before + 30)
                let posted = await load.stop()
                #expect(posted.statuses.isSubset(of: [202, 503]), "\(posted.statuses)")
                #expect(posted.allSatisfy { $0.status != nil })
                #expect(try await AppClient.outcomes(posted.ids, of: relay) == ["granted": posted.ids.count])
                Measured.note("all settled after the database came back", ContinuousClock.now - back)
                let answer = try await poll.value
                #expect([200, 503].contains(answer.status))
                #expect(try await AppClient.outcomes([held], of: relay) == ["granted": 1])

                // A refused app may repeat its request, even if the first commit succeeded.
                let unanswered = refused + posted.filter { $0.status == 503 }
                let again = await AppClient.post(unanswered.map(\.purchase), to: relay)
                #expect(again.statuses.isSubset(of: [200, 202]), "\(again.statuses)")
                #expect(try await AppClient.outcomes(again.ids, of: relay) == ["granted": unanswered.count])
                #expect(try await day.control.stats()["overlappingForwards"].int == 0)
            }
        }

        @Test(.timeLimit(.paced(minutes: 4)))
        func aCopyWithoutItsDatabaseStopsInTime() async throws {
            let cluster = try await PrivateCluster.crashing()
            try await BadDay.run(in: cluster) { day in
                let known = try await day.relay()
                try await day.control.trouble("slow-2s")
                let posted = await AppClient.post(AppClient.purchases(20, "stuck"), to: known)
                #expect(posted.accepted.count == 20)
                await cluster.crash()
                let never = try await day.relay(isReady: false)
                _ = await never.process.line { $0.contains("not ready") }
                for relay in [known, never] {
                    relay.process.signal(SIGTERM)
                    let told = ContinuousClock.now
                    // The relay limits its shutdown to ten seconds. Later it would exit with 1.
                    #expect(await relay.process.exitCode() == 0)
                    let took = ContinuousClock.now - told
                    Measured.note("exit after SIGTERM without a database", took)
                }
                try await cluster.start()
                try await day.control.heal()
                let next = try await day.relay()
                #expect(try await AppClient.outcomes(posted.ids, of: next) == ["granted": 20])
            }
        }
    }
}
