import TestRun
import Testing

extension BadDays {
    @Suite struct UpstreamAwayTests {
        @Test(.timeLimit(.paced(minutes: 4)))
        func anUpstreamThatIsAwayAtFirstAndAgainLaterGetsEverything() async throws {
            try await BadDay.run { day in
                await day.endSimulator()
                let relay = try await day.relay()
                try await Probes(relay).areReady()
                let early = await AppClient.post(AppClient.purchases(20, "early"), to: relay)
                #expect(early.accepted.count == 20)
                #expect(try await AppClient.poll(early.ids[0], of: relay).json["status"].string == "pending")
                try await day.restartSimulator()
                let came = ContinuousClock.now
                #expect(try await AppClient.outcomes(early.ids, of: relay) == ["granted": 20])
                Measured.note("settled after the upstream came", ContinuousClock.now - came)
                try await day.forwardedProperly(early)

                let load = SteadyLoad(relay, "later")
                try await load.accepted(30)
                await day.endSimulator()
                let before = load.posted.accepted.count
                try await load.accepted(before + 30)
                let posted = await load.stop()
                #expect(posted.statuses == [202])
                // The new simulator does not know what the old one processed, so those purchases stay ungranted. The
                // last twenty are sent only to the new one.
                try await day.restartSimulator()
                let back = ContinuousClock.now
                let late = Array(posted.suffix(20))
                #expect(try await AppClient.outcomes(late.ids, of: relay) == ["granted": 20])
                Measured.note("settled after the upstream came back", ContinuousClock.now - back)
                try await day.forwardedProperly(late)
            }
        }

        /// Forty of the forty-eight allowed calls hang, the first one of each customer. Other customers' purchases are
        /// still processed.
        @Test(.timeLimit(.paced(minutes: 4)))
        func callsThatHangDelayNoOtherCustomer() async throws {
            try await BadDay.run(settings: ["RELAY_UPSTREAM_TIMEOUT_SECONDS": "15"]) { day in
                let relay = try await day.relay()
                let hanging = (0..<40).map { TestPurchase(email: "hung-\($0)+hang-1@example.test") }
                let hung = await AppClient.post(hanging, to: relay)
                try await Awaiting.fact("all of them hang", is: 40) { try await day.control.payments().count }
                let began = ContinuousClock.now
                let others = await AppClient.post(AppClient.purchases(20, "others"), to: relay)
                #expect(try await AppClient.outcomes(others.ids, of: relay) == ["granted": 20])
                let took = ContinuousClock.now - began
                let still = try await day.control.payments().filter { $0.email?.hasPrefix("hung-") == true }
                #expect(still.count { $0.endedAt == nil } == 40, "they hang all the while")
                Measured.note("20 purchases while 40 calls hang", took)
                #expect(try await AppClient.outcomes(hung.ids, of: relay) == ["granted": 40])
                try await day.forwardedProperly(hung + others)
            }
        }
    }
}
