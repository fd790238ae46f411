import Foundation
import TestRun
import Testing

extension BadDays {
    @Suite struct RolesTests {
        @Test(.timeLimit(.paced(minutes: 4)))
        func aFrontsHeldPollIsWokenByTheWorkerOfAnotherProcess() async throws {
            try await BadDay.run(grantAfter: 0.5) { day in
                let hasty = try await day.relay(role: "front", settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "3"])
                // Without a worker nothing is forwarded, but the deadline still applies.
                let alone = await AppClient.post(TestPurchase(email: "alone@example.test"), to: hasty)
                #expect(alone.status == 202)
                #expect(try await AppClient.outcomes([#require(alone.id)], of: hasty) == ["timed_out": 1])
                #expect(try await day.control.payments().isEmpty)

                let front = try await day.relay(role: "front")
                let worker = try await day.relay(role: "worker")
                #expect(worker.process.output.contains { $0.contains("app front") } == false)
                try await Probes(worker).areReady()
                #expect(
                    try await Awaiting.fact("the late grant shows") {
                        try await AppClient.poll(#require(alone.id), of: front).json
                    } holds: {
                        $0["status"].string == "granted"
                    }["late"].bool == true)

                var delays: [TimeInterval] = []
                for number in 0..<5 {
                    let posted = await AppClient.post(TestPurchase(email: "front-\(number)@example.test"), to: front)
                    let answer = try await AppClient.poll(#require(posted.id), of: front, wait: 60)
                    let answeredAt = Date()
                    #expect(answer.json["status"].string == "granted")
                    let settledAt = try #require(answer.json["settledAt"].string.flatMap(Date.init(milliseconds:)))
                    delays.append(answeredAt.timeIntervalSince(settledAt))
                }
                // A poll that nothing ends is held for a minute.
                #expect(delays.allSatisfy { $0 < 50 })
                Measured.note("held poll of a front after the worker's settlement, seconds", "\(delays)")
            }
        }
    }
}
