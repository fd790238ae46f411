import Foundation
import Testing

/// A validation is still watched for a while after its deadline.
@Suite struct ReconcileTests {
    @Test func theWatchContinuesAtDoublingGapsAndEnds() async throws {
        // 18 seconds: long enough that a busy machine does not blur the gaps.
        let settings = [
            "RELAY_VALIDATION_TIMEOUT_SECONDS": "1", "RELAY_POLL_INTERVAL_SECONDS": "1",
            "RELAY_RECONCILE_HOURS": "0.005",
        ]
        try await Setup.run(settings: settings) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            let email = "nea+never@example.test"
            let id = try await relay.pursue(email)
            let found = try await relay.pursue("ana+late-2s@example.test")
            let timedOut = try await relay.becomes("timed_out", id)
            let deadline = try #require(timedOut["deadline"].string.flatMap(Date.init(milliseconds:)))

            let late = try await relay.becomes("granted", found)
            #expect(late["late"].bool == true)
            #expect(late["accessGranted"].bool == true)

            try await Awaiting.fact("nothing is watched any more", is: 0) {
                try await relay.ops("/ops/summary").json["backlog"]["watching"].int
            }
            let detail = try await relay.detail(id)
            #expect(detail["status"].string == "timed_out")
            #expect(detail["nextStepAt"].isNull)
            let reads = try await control.reads(of: email).filter { $0.startedAt > deadline }
            // With constant gaps there would be eighteen reads.
            #expect((2...9).contains(reads.count), "\(reads.count) reads after the deadline")
            // The end of the watch shortens the last gap.
            let gaps = reads.gaps.dropLast()
            for (earlier, later) in zip(gaps, gaps.dropFirst()) { #expect(later > earlier) }
            // The watch is over, and the status can still be read.
            #expect(try await relay.poll(id).json["status"].string == "timed_out")
        }
    }
}
