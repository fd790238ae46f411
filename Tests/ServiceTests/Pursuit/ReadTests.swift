import Foundation
import Testing

/// When Cleeng is read, and how its answers are interpreted.
@Suite struct ReadTests {
    @Test func theFirstReadFollowsTheForwardAtOnceAndTheNextOnesAtTheInterval() async throws {
        // Long compared with a busy machine's delay of a call.
        let settings = ["RELAY_POLL_INTERVAL_SECONDS": "5"]
        try await Setup.run(settings: settings) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            let email = "ana+slow-600ms+after-7s@example.test"
            let id = try await relay.pursue(email)
            _ = try await relay.becomes("granted", id)
            let forward = try #require(try await control.payments(of: email).first)
            let answeredAt = try #require(forward.endedAt)
            let reads = try await control.reads(of: email)
            #expect(reads.allSatisfy { $0.json["publisherToken"].string == "present" })
            let before = reads.filter { $0.startedAt < forward.startedAt }
            #expect(before.count == 1)
            let after = Array(reads.filter { $0.startedAt >= forward.startedAt })
            #expect(after.allSatisfy { $0.startedAt >= answeredAt })
            let first = try #require(after.first)
            #expect(first.startedAt.timeIntervalSince(answeredAt) < 4, "it does not wait for the interval")
            #expect(after.count >= 2)
            #expect(after.comeOneIn(5), "\(after.gaps)")
        }
    }

    @Test func oneReadServesAllThatWaitForOneCustomerOverAllCopies() async throws {
        // Long compared with a busy machine's delay of a call.
        let settings = ["RELAY_POLL_INTERVAL_SECONDS": "5"]
        try await Setup.run(settings: settings) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            let other = try await Relay.start(
                database: setup.database, simulator: setup.simulator, keys: relay.keys, settings: settings)
            try await other.during {
                let email = "ana+after-12s@example.test"
                let offers = ["S123456789_US", "S598742062_US", "P100000001_US", "S100000002"]
                var ids: [String] = []
                for (index, offer) in offers.enumerated() {
                    ids.append(try await (index.isMultiple(of: 2) ? relay : other).pursue(email, offer: offer))
                }
                for id in ids { #expect(try await relay.becomes("granted", id)["late"].bool == false) }
                // A read right before each forward is allowed as well, so only reads after the last forward count.
                let sent = try #require(try await control.payments(of: email).compactMap(\.endedAt).max())
                let reads = try await control.reads(of: email).filter { $0.startedAt > sent }
                #expect(reads.count >= 2)
                #expect(reads.comeOneIn(5), "reads of one customer came \(reads.gaps) s apart")
            }
        }
    }

    @Test func whatEntitlesAndWhatDoesNot() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let terminated = try await relay.pursue("tea+terminated@example.test")
            let wrongOffer = TestPurchase.newTransactionID()
            let never = try await relay.pursue("nea+never+entitled-S598742062_US@example.test", original: wrongOffer)

            let active = try await relay.pursue("ana@example.test")
            let cancelled = try await relay.pursue("cia+cancelled@example.test")
            let grace = try await relay.pursue("gia+expired-active@example.test")
            let access = try await relay.pursue("oda@example.test", offer: "A100000001_US")
            let rental = try await relay.pursue("oda@example.test", offer: "R100000002")
            let before = try await relay.pursue("eva+entitled@example.test")
            for (id, word) in [
                (active, "active"), (cancelled, "cancelled"), (grace, "active"), (access, "active"), (rental, "active"),
                (before, "active"),
            ] {
                let answer = try await relay.becomes("granted", id)
                let detail = try await relay.detail(id)
                #expect(detail["evidence"]["source"].string == "entitlements")
                #expect(detail["evidence"]["status"].string == word)
                #expect(detail["evidence"]["offerId"] == answer["offerId"])
                #expect(detail["entitledBefore"].bool == (id == before))
                let expiresAt = try #require(answer["expiresAt"].string.flatMap(Date.init(milliseconds:)))
                #expect((expiresAt < .now) == (id == grace))
            }

            for id in [terminated, never] {
                try await Awaiting.fact("it was read") {
                    try await relay.events(id)
                } holds: {
                    $0.contains("entitlement_read")
                }
            }
            try await setup.database.letDeadlinesCome()
            for id in [terminated, never] {
                #expect(try await relay.becomes("timed_out", id)["accessGranted"].bool == false)
                #expect(try await relay.timeline(id, "granted").isEmpty)
                #expect(try await relay.detail(id)["entitledBefore"].bool == false)
            }
        }
    }

    @Test func readsThatFailDelayAndNeverReject() async throws {
        let settings = ["RELAY_UPSTREAM_TIMEOUT_SECONDS": "5"]
        try await Setup.run(settings: settings) { setup in
            let relay = setup.relay
            let control = SimulatorControl(setup.simulator)
            // The read before the forward gets the first behaviour of each.
            let tags = [
                "read-500-3", "read-429-3", "read-429-3-date", "read-hang-2", "garbage-3", "read-reset-3",
                "read-unauthorized-3",
            ]
            // Failed reads of five customers in a row would look like an outage, so fewer run at a time.
            for some in [tags.prefix(4), tags.dropFirst(4)] {
                var ids: [String] = []
                for tag in some { ids.append(try await relay.pursue("ana+\(tag)@example.test")) }
                for (id, tag) in zip(ids, some) {
                    #expect(try await relay.becomes("granted", id)["late"].bool == false, "\(tag)")
                    #expect(try await !relay.timeline(id, "entitlement_read_failed").isEmpty, "\(tag)")
                    // The earlier entitlement could not be read, and remains unknown.
                    #expect(try await relay.detail(id)["entitledBefore"].isNull, "\(tag)")
                    #expect(try await control.payments(of: "ana+\(tag)@example.test").count == 1, "\(tag)")
                }
            }
            for tag in ["read-429-3", "read-429-3-date"] {
                let reads = try await control.reads(of: "ana+\(tag)@example.test")
                let afterForward = Array(reads.dropFirst())
                #expect(afterForward.count >= 3)
                for pause in Array(afterForward.prefix(3)).pauses { #expect(pause >= 0.99, "\(tag)") }
            }
        }
    }
}
