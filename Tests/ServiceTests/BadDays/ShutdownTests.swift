import Foundation
import Postgres
import TestRun
import Testing

extension BadDays {
    @Suite struct ShutdownTests {
        @Test(.timeLimit(.paced(minutes: 4)))
        func aCopyThatGetsSIGTERMUnderLoadEndsCleanly() async throws {
            try await BadDay.run { day in
                async let one = day.relay()
                async let other = day.relay(role: "worker", settings: ["RELAY_LOG_LEVEL": "info"])
                let (going, _) = try await (one, other)
                let held = try #require(try await Self.holdPoll(day, going))
                let load = SteadyLoad(going, "term")
                try await load.accepted(80)
                going.process.signal(SIGTERM)
                let told = ContinuousClock.now
                let code = await going.process.exitCode()
                let took = ContinuousClock.now - told
                // The relay limits its shutdown to ten seconds. Later it would exit with 1.
                #expect(code == 0)
                Measured.note("exit after SIGTERM under load", took)
                #expect(try await held.value.status == 200)

                let posted = await load.stop()
                let next = try await day.relay(role: "front")
                #expect(try await AppClient.outcomes(posted.ids, of: next) == ["granted": posted.ids.count])
                try await day.forwardedProperly(posted)
                #expect(posted.statuses.isSubset(of: [202, 503]), "\(posted.statuses)")
            }
        }

        /// Posts a purchase whose first call to the upstream gets no answer, and waits for that call.
        private static func sendOneThatHangs(_ day: BadDay, _ relay: Relay) async throws -> Posted {
            try await day.control.behave("hung@example.test", "hang-1")
            let posted = await AppClient.post(TestPurchase(email: "hung@example.test"), to: relay)
            try await Awaiting.fact("it was sent", is: 1) {
                try await day.control.payments(of: "hung@example.test").count
            }
            return posted
        }

        /// The upstream does not answer the first call. The copy that waits for the answer releases its lease when it
        /// stops, so the next copy need not wait for the lease to expire. No other copy runs meanwhile, since a delay
        /// of the machine could then change the result.
        @Test(.timeLimit(.paced(minutes: 4)))
        func aStoppingCopyReleasesItsLeases() async throws {
            try await BadDay.run(settings: ["RELAY_UPSTREAM_TIMEOUT_SECONDS": "20"]) { day in
                let going = try await day.relay()
                let posted = try await Self.sendOneThatHangs(day, going)
                going.process.signal(SIGTERM)
                let told = ContinuousClock.now
                #expect(await going.process.exitCode() == 0)
                Measured.note("exit after SIGTERM with a hanging upstream", ContinuousClock.now - told)
                // A process that was delayed for longer than a lease lost the lease before it could release it.
                let stoodStill = going.process.output.contains { $0.contains("leases ran out") }
                let leases = try await day.database.query(
                    SQL("SELECT count(*) FILTER (WHERE owner IS NOT NULL), max(strikes) FROM pursuits"))
                #expect(try leases.first?.get(0, as: Int.self) == 0 || stoodStill)
                #expect(try leases.first?.get(1, as: Int.self) == 0 || stoodStill)

                let started = ContinuousClock.now
                let other = try await day.relay(settings: ["RELAY_UPSTREAM_TIMEOUT_SECONDS": "5"])
                #expect(try await AppClient.outcomes([#require(posted.id)], of: other) == ["granted": 1])
                Measured.note("settled by a copy that starts after that exit", ContinuousClock.now - started)
                try await day.forwardedProperly([posted])
            }
        }

        /// An upload keeps the app front busy for as long as it may, and a call to Cleeng its worker. The two waits do not
        /// add up, and a balancer learns meanwhile that this copy ends.
        @Test(.timeLimit(.paced(minutes: 4)))
        func frontsAndWorkersStopTogether() async throws {
            try await BadDay.run(settings: ["RELAY_UPSTREAM_TIMEOUT_SECONDS": "20"]) { day in
                let going = try await day.relay()
                let posted = try await Self.sendOneThatHangs(day, going)
                let upload = try PlainConnection(to: going.url)
                let head = [
                    "POST /apple/payment HTTP/1.1", "Host: relay", "Authorization: Bearer \(going.keys.app)",
                    "Content-Type: application/json", "Content-Length: 100", "", "{",
                ]
                try await upload.send(bytes: Array(head.joined(separator: "\r\n").utf8))
                try await Awaiting.fact("the upload has begun", is: true) {
                    try await going.metrics().contains("http_server_body_bytes 1")
                }
                going.process.signal(SIGTERM)
                let missing = try await Awaiting.fact("it says that it ends") {
                    try await HTTP.get(going.opsURL + "/readyz").json["missing"].array?.compactMap(\.string) ?? []
                } holds: {
                    !$0.isEmpty
                }
                #expect(missing == ["process"])
                #expect(await going.process.exitCode() == 0)
                withExtendedLifetime(upload) {}
                let next = try await day.relay()
                #expect(try await AppClient.outcomes([#require(posted.id)], of: next) == ["granted": 1])
            }
        }

        @Test(.timeLimit(.paced(minutes: 4)))
        func aSecondSignalEndsItAtOnce() async throws {
            try await BadDay.run(settings: ["RELAY_UPSTREAM_TIMEOUT_SECONDS": "20"]) { day in
                let relay = try await day.relay()
                let posted = try await Self.sendOneThatHangs(day, relay)
                relay.process.signal(SIGTERM)
                _ = await relay.process.line { $0.contains("ending cleanly") }
                relay.process.signal(SIGTERM)
                let told = ContinuousClock.now
                #expect(await relay.process.exitCode() == 130)
                let took = ContinuousClock.now - told
                Measured.note("exit after a second SIGTERM", took)
                let next = try await day.relay()
                #expect(try await AppClient.outcomes([#require(posted.id)], of: next) == ["granted": 1])
            }
        }

        /// - Returns: a poll that is held for longer than the copy lives; `nil` if its purchase was not accepted.
        private static func holdPoll(_ day: BadDay, _ relay: Relay) async throws -> Task<HTTP.Answer, any Error>? {
            try await day.control.behave("held@example.test", "never")
            guard let id = await AppClient.post(TestPurchase(email: "held@example.test"), to: relay).id else {
                return nil
            }
            let poll = Task { try await AppClient.poll(id, of: relay, wait: 60) }
            try await Awaiting.fact("the poll is held", is: 1) { try await relay.metric("http_server_held_polls") }
            return poll
        }
    }
}
