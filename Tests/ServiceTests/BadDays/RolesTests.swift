import Foundation
import Testing

extension BadDays {
    @Suite struct RolesTests {
        @Test(.timeLimit(.minutes(1)))
        func aFrontsHeldPollIsWokenByTheWorkerOfAnotherProcess() async throws {
            try await BadDay.run(grantAfter: 0.5, settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "3"]) { day in
                let front = try await day.relay(role: "front")
                // No worker anywhere: nothing is forwarded, and the deadline is judged all the same.
                let alone = await AppClient.post(TestPurchase(email: "alone@example.test"), to: front)
                #expect(alone.status == 202)
                #expect(try await AppClient.outcomes([#require(alone.id)], of: front) == ["timed_out": 1])
                #expect(try await day.control.payments().isEmpty)

                let worker = try await day.relay(role: "worker")
                #expect(worker.process.output.contains { $0.contains("app front") } == false)
                try await Probes(worker).areReady()
                #expect(try await Awaiting.fact("the late grant shows") {
                    try await AppClient.poll(#require(alone.id), of: front).json
                } holds: {
                    $0["status"].string == "granted"
                }["late"].bool == true)

                var delays: [TimeInterval] = []
                for number in 0..<5 {
                    let posted = await AppClient.post(TestPurchase(email: "front-\(number)@example.test"), to: front)
                    let answer = try await AppClient.poll(#require(posted.id), of: front, wait: 10)
                    let answeredAt = Date()
                    #expect(answer.json["status"].string == "granted")
                    let settledAt = try #require(answer.json["settledAt"].string.flatMap(Date.init(milliseconds:)))
                    delays.append(answeredAt.timeIntervalSince(settledAt))
                }
                #expect(delays.allSatisfy { $0 < 1.5 })
                Measured.note("held poll of a front after the worker's settlement, seconds", "\(delays)")
            }
        }

        /// The worker's own clock is hours off; only the database's counts.
        @Test(.timeLimit(.minutes(1)), .enabled(if: FakeClock.library != nil, "libfaketime is not installed"))
        func theClockOfAWorkerDoesNotMatter() async throws {
            for offset in ["+3h", "-3h"] {
                try await BadDay.run(grantAfter: 0.5, settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "3"]) { day in
                    let front = try await day.relay(role: "front")
                    let worker = try await day.relay(role: "worker", settings: FakeClock.environment(offset))
                    // That it is off at all: the log tells the time of the process.
                    let line = try JSON(data: Data(#require(worker.process.output.first { $0.hasPrefix("{") }).utf8))
                    let said = try #require(line["time"].string ?? line["timestamp"].string)
                    let off = try #require(Date(milliseconds: said)).timeIntervalSinceNow
                    #expect(abs(abs(off) - 3 * 3_600) < 60)

                    let never = TestPurchase(email: "never+never@example.test")
                    let granted = await AppClient.post(AppClient.purchases(10, "off"), to: front)
                    let timedOut = await AppClient.post(never, to: front)
                    #expect(try await AppClient.outcomes(granted.ids, of: front) == ["granted": 10])
                    let began = ContinuousClock.now
                    #expect(try await AppClient.outcomes([#require(timedOut.id)], of: front) == ["timed_out": 1])
                    #expect(ContinuousClock.now - began < .seconds(4))
                    let late = try await front.detail(granted.ids[0])
                    #expect(late["late"].bool == false)
                    let poll = try await AppClient.poll(granted.ids[0], of: front).json
                    let settledAt = try #require(poll["settledAt"].string.flatMap(Date.init(milliseconds:)))
                    #expect(abs(settledAt.timeIntervalSinceNow) < 30)
                }
            }
        }
    }
}
