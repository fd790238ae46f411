import Foundation
import TestRun
import Testing

extension BadDays {
    /// Tests that the relay spares an upstream that fails, and uses it again soon after it recovers.
    @Suite struct UpstreamProtectionTests {
        /// The upstream answers every call with 503. A hundred purchases come in, half at each of two copies. The
        /// upstream recovers five seconds after both copies report it down.
        @Test(.timeLimit(.paced(minutes: 4)))
        func aFailingUpstreamGetsOnlyProbesAndLaterEverything() async throws {
            try await BadDay.run { day in
                async let one = day.relay()
                async let other = day.relay()
                let copies = try await [one, other]
                try await day.control.trouble("down")
                let began = ContinuousClock.now
                let posted = try await Self.post(100, "away", to: copies)
                for copy in copies {
                    try await Self.becomes("down", copy)
                    // Failed reads may have reported it first.
                    try await Awaiting.fact("payments are shut", is: true) {
                        try await Self.isShut("payment", of: copy)
                    }
                }
                Measured.note("down is told after", ContinuousClock.now - began)
                // During this time only probes may be sent.
                try await Task.sleep(for: .seconds(5))
                let calls = try await day.control.requests()
                try await day.control.heal()
                let healed = ContinuousClock.now
                // Each copy sends at most 48 calls of each route (three quarters of 64) before it notices, and then a
                // few probes.
                #expect(calls.count <= 2 * 2 * 48 + 40)
                let lately = calls.filter { $0.startedAt.timeIntervalSinceNow > -4 }
                #expect(lately.count <= 2 * 2 * 3, "probes of two routes from two copies")
                Measured.note("calls of the outage, of them in the last 4 s", "\(calls.count), \(lately.count)")
                #expect(try await AppClient.outcomes(posted.ids, of: copies[0]) == ["granted": 100])
                let recovery = ContinuousClock.now - healed
                Measured.note("all 100 granted after it was well again", recovery)
                // A copy that sends nothing keeps its breaker open, since the other copy may process all purchases
                // first.
                var later = try await Self.post(20, "later", to: copies)
                for number in 0..<600 where try await Self.state(copies[0]) != "ok" {
                    later += try await Self.post(2, "later-\(number)", to: [copies[0], copies[0]])
                    try await Task.sleep(for: .milliseconds(200))
                }
                try await Self.becomes("ok", copies[0])
                Measured.note("ok is told after", ContinuousClock.now - healed)
                #expect(try await AppClient.outcomes(later.ids, of: copies[0]) == ["granted": later.count])
                try await day.forwardedProperly(posted + later)
                #expect(try await day.control.stats()["maxConcurrentForwardsPerSubscription"].int == 1)
            }
        }

        /// One customer's call gets 429. No purchase is sent before the wait is over, and then all are.
        @Test(.timeLimit(.paced(minutes: 4)), arguments: ["throttled-1", "throttled-1-date"])
        func aRetryAfterHoldsTheWholeRoute(tag: String) async throws {
            try await BadDay.run { day in
                let relay = try await day.relay()
                let first = await AppClient.post(TestPurchase(email: "first+\(tag)@example.test"), to: relay)
                let refusal = try await Awaiting.fact("it is asked to wait") {
                    try await day.control.payments().first { $0.status == 429 }
                } holds: {
                    $0?.endedAt != nil
                }
                let others = await AppClient.post(AppClient.purchases(30, "others"), to: relay)
                #expect(try await AppClient.outcomes(others.ids + [first].ids, of: relay) == ["granted": 31])
                let told = try #require(refusal?.endedAt)
                let after = try await day.control.payments().filter { $0.startedAt > told }
                #expect(after.count == 31)
                let pause = try #require(after.map { $0.startedAt.timeIntervalSince(told) }.min())
                // A date names a time at most two seconds ahead. A wait is limited to a minute.
                #expect(pause >= 0.98 && pause < 55, "\(pause)")
            }
        }

        /// A customer's read gets 429 in one copy. The other copy pauses its reads of that customer too.
        @Test(.whole, .timeLimit(.paced(minutes: 4)), arguments: ["read-429-2", "read-429-2-date"])
        func aRetryAfterOfAReadHoldsThatCustomerOverAllCopies(tag: String) async throws {
            // The grant is late, so that both copies' reads become due several times.
            try await BadDay.run(grantAfter: 4) { day in
                async let one = day.relay()
                async let other = day.relay()
                let copies = try await [one, other]
                let email = "ana+\(tag)@example.test"
                var ids: [String] = []
                for (index, offer) in ["S123456789_US", "S598742062_US", "P100000001_US", "S100000002"].enumerated() {
                    let purchase = TestPurchase(email: email, offer: offer)
                    ids += await [AppClient.post(purchase, to: copies[index % 2])].ids
                }
                #expect(try await AppClient.outcomes(ids, of: copies[0]) == ["granted": 4])
                let sent = try #require(try await day.control.payments(of: email).compactMap(\.endedAt).max())
                let reads = try await day.control.reads(of: email)
                let refused = reads.filter { $0.status == 429 }
                #expect(refused.count == 2)
                for refusal in refused {
                    let told = try #require(refusal.endedAt)
                    // The baseline read before another purchase's forward does not wait for the customer's turn.
                    let next = reads.first { $0.startedAt > max(told, sent) }
                    if let next { #expect(next.startedAt.timeIntervalSince(told) >= 0.95) }
                }
                let after = reads.filter { $0.startedAt > sent }
                #expect(after.comeOneIn(0.3), "reads of one customer came \(after.gaps) s apart")
            }
        }

        @Test(.timeLimit(.paced(minutes: 4)))
        func noMoreCallsAreUnderWayThanTheSettingSays() async throws {
            try await BadDay.run(settings: ["RELAY_CLEENG_MAX_CONCURRENT_CALLS": "8"]) { day in
                try await day.control.trouble("slow-300ms")
                let relay = try await day.relay()
                let posted = await AppClient.post(AppClient.purchases(120, "capped"), to: relay)
                #expect(try await AppClient.outcomes(posted.ids, of: relay) == ["granted": 120])
                #expect(try #require(await day.control.stats()["maxConcurrentForwards"].int) <= 6)
                let most = Self.mostAtOnce(try await day.control.requests())
                #expect(most <= 8)
                #expect(most >= 7, "else nothing was bounded")
                let metrics = try await relay.metrics()
                #expect(metrics.contains("relay_upstream_wait_seconds_count{route=\"payment\"}"))
                #expect(metrics.contains("relay_upstream_calls_in_flight{route=\"entitlements\"}"))
            }
        }

        /// No call is answered for seven seconds, and the relay gives a call up after three.
        @Test(.whole, .timeLimit(.paced(minutes: 4)))
        func callsDoNotPileUpBeforeAnUpstreamThatHangs() async throws {
            try await BadDay.run(settings: ["RELAY_UPSTREAM_TIMEOUT_SECONDS": "3"]) { day in
                try await day.control.trouble("hang")
                let relay = try await day.relay()
                let began = ContinuousClock.now
                let posted = await AppClient.post(AppClient.purchases(300, "hung"), to: relay, width: 32)
                #expect(posted.accepted.count == 300)
                try await Task.sleep(until: began + .seconds(7), clock: .continuous)
                let calls = try await day.control.requests()
                try await day.control.heal()
                let healed = ContinuousClock.now
                #expect(Self.mostAtOnce(calls) <= 64)
                // Two calls for each purchase would be six hundred, and as many again after each timeout.
                #expect(calls.count < 3 * 64)
                Measured.note("calls to an upstream that hung for 7 s, 300 purchases waiting", "\(calls.count)")
                #expect(try await AppClient.outcomes(posted.ids, of: relay) == ["granted": 300])
                let recovery = ContinuousClock.now - healed
                Measured.note("all 300 granted after it answered again", recovery)
                try await day.forwardedProperly(posted)
            }
        }

        /// Purchases time out while nothing is sent. A grant after that is late.
        @Test(.whole, .timeLimit(.paced(minutes: 4)))
        func purchasesTimeOutWhileNothingIsSent() async throws {
            try await BadDay.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "3"]) { day in
                try await day.control.trouble("unauthorized")
                let relay = try await day.relay()
                let posted = await AppClient.post(AppClient.purchases(80, "late"), to: relay)
                try await Self.becomes("misconfigured", relay)
                #expect(try await AppClient.outcomes(posted.ids, of: relay) == ["timed_out": 80])
                try await Awaiting.fact("all are written") {
                    try await relay.metrics()
                } holds: {
                    $0.contains("relay_settlements_total{status=\"timed_out\"} 80\n")
                }
                try await day.control.heal()
                for id in posted.ids {
                    let granted = try await relay.becomes("granted", id)
                    #expect(granted["late"].bool == true)
                }
                let first = try #require(posted.ids.last)
                #expect(try await relay.events(first).filter { $0 == "timed_out" }.count == 1)
            }
        }

        /// Reads take longer than a forward waits for its baseline read, and less than the timeout.
        @Test(.whole, .timeLimit(.paced(minutes: 4)))
        func slowReadsAreNoFailure() async throws {
            try await BadDay.run(settings: ["RELAY_UPSTREAM_TIMEOUT_SECONDS": "60"]) { day in
                try await day.control.trouble("read-slow-2500ms")
                let relay = try await day.relay()
                let posted = await AppClient.post(AppClient.purchases(30, "slow"), to: relay)
                #expect(try await AppClient.outcomes(posted.ids, of: relay) == ["granted": 30])
                let metrics = try await relay.metrics()
                #expect(!metrics.contains("relay_upstream_breaker_opens_total"))
                #expect(metrics.contains("relay_upstream_state{state=\"ok\"} 1"))
            }
        }

        /// Only reads fail: purchases reach Cleeng, and are granted once reads work again.
        @Test(.whole, .timeLimit(.paced(minutes: 4)))
        func paymentsContinueWhileReadsHang() async throws {
            try await BadDay.run { day in
                try await day.control.trouble("read-hang")
                let relay = try await day.relay(settings: ["RELAY_UPSTREAM_TIMEOUT_SECONDS": "5"])
                let early = await AppClient.post(AppClient.purchases(60, "early"), to: relay)
                try await Awaiting.fact("reads are shut", is: true) { try await Self.isShut("entitlements", of: relay) }
                let began = ContinuousClock.now
                let later = await AppClient.post(AppClient.purchases(60, "later"), to: relay)
                let all = Set((early + later).map(\.purchase.email))
                try await Awaiting.fact("all are sent", is: all) {
                    Set(try await day.control.payments().compactMap(\.email))
                }
                Measured.note("60 purchases sent while reads hang", ContinuousClock.now - began)
                #expect(try await !Self.isShut("payment", of: relay))
                try await day.control.heal()
                #expect(try await AppClient.outcomes((early + later).ids, of: relay) == ["granted": 120])
                try await day.forwardedProperly(early + later)
            }
        }

        // MARK: Helpers

        private static func post(_ count: Int, _ name: String, to copies: [Relay]) async throws -> [Posted] {
            let purchases = AppClient.purchases(count, name)
            async let first = AppClient.post(Array(purchases.prefix(count / 2)), to: copies[0])
            async let second = AppClient.post(Array(purchases.dropFirst(count / 2)), to: copies[1])
            let posted = await first + second
            #expect(posted.accepted.count == count)
            return posted
        }

        private static func becomes(_ state: String, _ relay: Relay) async throws {
            try await Awaiting.fact("the upstream is reported as \(state)", is: state) { try await Self.state(relay) }
        }

        private static func state(_ relay: Relay) async throws -> String? {
            try await relay.ops("/ops/summary").json["upstream"]["state"].string
        }

        private static func isShut(_ route: String, of relay: Relay) async throws -> Bool {
            let line = "relay_upstream_breaker_state{route=\"\(route)\",state=\"closed\"} 0"
            return try await relay.metrics().contains(line)
        }

        /// Largest number of concurrent requests by the simulator's clock, which has milliseconds. A request that ends
        /// as another begins does not overlap it.
        private static func mostAtOnce(_ requests: [SentRequest]) -> Int {
            var turns: [(at: Date, change: Int)] = []
            for request in requests {
                turns.append((request.startedAt, 1))
                turns.append((request.endedAt ?? .distantFuture, -1))
            }
            turns.sort { ($0.at, $0.change) < ($1.at, $1.change) }
            var (now, most) = (0, 0)
            for turn in turns {
                now += turn.change
                most = max(most, now)
            }
            return most
        }
    }
}
