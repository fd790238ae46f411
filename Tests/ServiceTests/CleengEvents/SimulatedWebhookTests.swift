import Foundation
import Testing

/// The simulated Cleeng and the relay, with each other's addresses. Cleeng is read so rarely that only its events can
/// end a wait in time.
@Suite struct SimulatedWebhookTests {
    private static let secret = "a-shared-secret-of-the-tests"
    private static let offer = "S123456789_US"

    private func run(_ body: (Relay, SimulatorControl) async throws -> Void) async throws {
        let settings = [
            "RELAY_CLEENG_WEBHOOK_SECRET": Self.secret, "RELAY_POLL_INTERVAL_SECONDS": "20",
            "RELAY_VALIDATION_TIMEOUT_SECONDS": "300",
        ]
        try await Setup.run(grantAfter: 1, settings: settings) { setup in
            let control = SimulatorControl(setup.simulator)
            try await control.tell(setup.relay, secret: Self.secret)
            try await body(setup.relay, control)
        }
    }

    /// The relay's count of events with this result.
    private func events(_ relay: Relay, _ result: String) async throws -> Int {
        let text = try await relay.metrics()
        let name = "cleeng_events_total{result=\"\(result)\"} "
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
    }

    /// Waits until that many events were accepted.
    private func delivered(_ count: Int, _ control: SimulatorControl) async throws -> [JSON] {
        let deliveries = try await Awaiting.fact("\(count) events are delivered") {
            try await control.deliveries()
        } holds: {
            $0.count >= count
        }
        #expect(deliveries.allSatisfy { $0["status"].int == 200 && $0["attempts"].int == 1 }, "\(deliveries)")
        return deliveries
    }

    @Test func aGrantIsKnownToTheAppAtOnce() async throws {
        try await run { relay, control in
            let id = try await relay.pursue("ana@example.test")
            let outcome = try await relay.outcome(id)
            #expect(outcome["status"].string == "granted")
            let deliveries = try await delivered(2, control)
            #expect(
                deliveries.map { $0["topic"].string } == ["inappPurchaseValidationSucceeded", "subscriptionCreated"])
            let detail = try await relay.detail(id)
            // Both events arrive together, and each is sufficient.
            let topic = try #require(detail["evidence"]["topic"].string)
            #expect(["inappPurchaseValidationSucceeded", "subscriptionCreated"].contains(topic))
            // The same end as in Cleeng's own list.
            let listed = try await control.customer("ana@example.test")["entitlements"][0]["expiresAt"].string
            let told = try #require(outcome["expiresAt"].string)
            #expect(told.dropLast(5) == listed?.dropLast(5))
        }
    }

    @Test(arguments: ["", "+webhook-twice"]) func aTransferUpdatesBothAndARepeatNothing(tag: String) async throws {
        try await run { relay, control in
            let original = TestPurchase.newTransactionID()
            let (anas, bens) = ("ana\(tag)@example.test", "ben\(tag)@example.test")
            let ana = try await relay.pursue(anas, original: original)
            #expect(try await relay.outcome(ana)["status"].string == "granted")
            let ben = try await relay.pursue(bens, original: original)
            #expect(try await relay.outcome(ben)["status"].string == "granted")
            #expect(try await relay.becomes("transferred", ana)["accessGranted"].bool == false)
            let times = tag.isEmpty ? 1 : 2
            _ = try await delivered(5 * times, control)
            #expect(try await events(relay, "stored") == 5)
            #expect(try await events(relay, "repeated") == 5 * (times - 1))
            // Later events change nothing.
            try await relay.hasHandledEvents(5)
            #expect(try await relay.poll(ben).json["status"].string == "granted")
            #expect(try await relay.poll(ana).json["status"].string == "transferred")
            for (id, events) in [(ana, ["granted", "transferred"]), (ben, ["granted"])] {
                let seen = try await relay.events(id).filter { ["granted", "transferred", "revoked"].contains($0) }
                #expect(seen == events)
            }
            let transfer = try await relay.detail(ben)["transfer"]
            #expect(transfer["from"].string == anas && transfer["to"].string == bens)
        }
    }

    @Test func aFailureRejectsAndAnEndRevokes() async throws {
        try await run { relay, control in
            let failed = try await relay.pursue("ana+webhook-failed@example.test")
            let granted = try await relay.pursue("ben@example.test")
            let rejection = try await relay.outcome(failed)
            #expect(rejection["status"].string == "rejected")
            #expect(rejection["reason"].string == "validation_failed")
            #expect(try await relay.outcome(granted)["status"].string == "granted")
            _ = try await delivered(3, control)
            try await control.entitle("ben@example.test", to: Self.offer, status: "terminated")
            // Cleeng is asked for confirmation as soon as its interval allows.
            let over = try await relay.becomes("revoked", granted)
            #expect(over["reason"].string == "expired")
            let asked = try await control.reads(of: "ben@example.test")
            #expect(asked.count <= 3, "the grant of one that runs is no reason to ask")
        }
    }

    @Test func pollingFindsAGrantWhoseEventWasLost() async throws {
        try await Setup.run(
            grantAfter: 1,
            settings: ["RELAY_CLEENG_WEBHOOK_SECRET": Self.secret, "RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]
        ) { setup in
            let control = SimulatorControl(setup.simulator)
            // Events with another secret's signature have no effect.
            try await control.tell(setup.relay, secret: "another secret, long enough")
            let ana = try await setup.relay.pursue("ana@example.test")
            let ben = try await setup.relay.pursue("ben+webhook-lost@example.test")
            #expect(try await setup.relay.outcome(ana)["status"].string == "granted")
            #expect(try await setup.relay.outcome(ben)["status"].string == "granted")
            try await Awaiting.fact("the event is refused") {
                try await events(setup.relay, "bad_signature")
            } holds: {
                $0 > 0
            }
        }
    }
}
