import Foundation
import Testing

/// After the deadline a validation is still watched, for a while.
@Suite struct ReconcileTests {
    @Test func theWatchGoesOnAtDoublingGapsAndEnds() async throws {
        // 4.32 seconds.
        let settings = [
            "RELAY_VALIDATION_TIMEOUT_SECONDS": "1", "RELAY_POLL_INTERVAL_SECONDS": "0.4",
            "RELAY_RECONCILE_HOURS": "0.0012",
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

            try await Awaiting.fact("nothing is watched any more") {
                try await relay.ops("/ops/summary").json["backlog"]["watching"].int
            } holds: {
                $0 == 0
            }
            let detail = try await relay.detail(id)
            #expect(detail["status"].string == "timed_out")
            #expect(detail["nextStepAt"].isNull)
            let reads = try await control.reads(of: email).filter { $0.startedAt > deadline }
            #expect((2...6).contains(reads.count), "\(reads.count) reads after the deadline")
            let first = try #require(reads.first).startedAt.timeIntervalSince(deadline)
            #expect(first < 2 * 0.4 + 0.6, "the first came \(first) s after the deadline")
            // The last gap is cut at the end of the watch.
            let gaps = reads.gaps.dropLast()
            for (earlier, later) in zip(gaps, gaps.dropFirst()) { #expect(later > earlier) }
            // What was begun within the watch may end a gap later.
            let last = try #require(reads.last).startedAt.timeIntervalSince(deadline)
            #expect(last < 2 * 4.32 + 2, "the last came \(last) s after the deadline")
            // Long gone, and still told.
            #expect(try await relay.poll(id).json["status"].string == "timed_out")
        }
    }
}
