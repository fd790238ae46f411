import AppStoreSimulation
import Foundation
import TestRun
import Testing

/// An app's view of a subscription after the grant.
@Suite struct LifeTests {
    private struct Scene {
        var setup: Setup
        var store: TestAppStore
        var life: SimulatedSubscription
        var relay: Relay { setup.relay }

        /// - Returns: the granted validation.
        func buy(_ email: String) async throws -> String {
            let answer = try await relay.purchase(try store.purchase(life, email: email))
            let id = try #require(answer.json["validationId"].string, "\(answer.text)")
            #expect(try await relay.outcome(id)["status"].string == "granted")
            return id
        }

        /// A purchase for which Cleeng grants three seconds, so that the relay asks again soon.
        func buyUntilSoon(_ control: SimulatorControl) async throws -> String {
            try await control.behave("ana@example.test", "never")
            try await control.entitle(
                "ana@example.test", to: "S123456789_US", status: "active", until: Date().addingTimeInterval(3))
            return try await buy("ana@example.test")
        }

        func tell(_ notification: SimulatedNotification) async throws {
            #expect(try await relay.notify(notification, signedBy: store).status == 200)
        }

        /// Status and reason in an immediate poll.
        func told(_ id: String) async throws -> [String?] {
            let poll = try await relay.status(id)
            return [poll["status"].string, poll["reason"].string]
        }
    }

    private func run(
        period: TimeInterval = 86_400, settings: [String: String] = [:], _ body: (inout Scene) async throws -> Void
    ) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings(relayingTo: nil, settings)) { setup in
            var scene = Scene(setup: setup, store: store, life: try store.subscription(period: period))
            try await body(&scene)
        }
    }

    @Test func aRefundEndsAccessAtOnceAndItsReversalRestoresIt() async throws {
        try await run { scene in
            scene.life.bought(at: Date())
            let id = try await scene.buy("ana@example.test")
            try await scene.tell(scene.life.refunded(at: Date()))
            #expect(try await scene.told(id) == ["revoked", "refunded"])
            let list = try await HTTP.get(
                scene.relay.url + "/entitlements?customerEmail=ana@example.test&offerId=S123456789_US",
                headers: ["Authorization": "Bearer \(scene.relay.keys.app)"])
            #expect(list.json["accessGranted"].bool == false)
            try await scene.tell(scene.life.refundReversed(at: Date()))
            #expect(try await scene.told(id) == ["granted", nil])
            let events = try await scene.relay.events(id)
            #expect(events.filter { ["granted", "revoked"].contains($0) } == ["granted", "revoked", "granted"])
        }
    }

    /// Cleeng still entitles the customer. An app that reads `granted` once shows the content and does not ask again.
    @Test(arguments: ["ana@example.test", "ben@example.test"])
    func aRefundThatIsKnownIsNeverShownAsGranted(postedBy email: String) async throws {
        try await run { scene in
            scene.life.bought(at: Date())
            let purchase = try scene.store.purchase(scene.life, email: email)
            let first = try await scene.buy("ana@example.test")
            try await scene.tell(scene.life.refunded(at: Date()))
            #expect(try await scene.told(first) == ["revoked", "refunded"])
            let again = try await scene.relay.pursue(purchase)
            #expect(try await scene.relay.becomes("revoked", again)["reason"].string == "refunded")
            #expect(try await !scene.relay.events(again).contains("granted"))
            try await scene.tell(scene.life.refundReversed(at: Date()))
            #expect(try await scene.told(first) == ["granted", nil])
        }
    }

    @Test func aRenewalMovesTheEndAndEndsAHeldPoll() async throws {
        try await run { scene in
            scene.life.bought(at: Date())
            let id = try await scene.buy("ana@example.test")
            try await scene.tell(scene.life.renewed(at: Date()))
            let poll = try await scene.relay.status(id)
            #expect(poll["status"].string == "granted")
            let subscription = try await scene.relay.subscription(scene.life)
            #expect(poll["expiresAt"].string == subscription["expiresAt"].string)
            #expect(subscription["customerEmail"].string == "ana@example.test")
            #expect(subscription["validationId"].string == id)
        }
    }

    @Test(.whole) func familySharingBillingRetryAndAnUpgradeChangeAccess() async throws {
        try await run(period: 3_600) { scene in
            let now = Date()
            scene.life.bought(at: now.addingTimeInterval(-3_599))
            let id = try await scene.buy("ana@example.test")
            try await scene.tell(
                scene.life.renewalFailed(at: now.addingTimeInterval(1), graceUntil: now.addingTimeInterval(3_600)))
            #expect(try await scene.told(id) == ["granted", nil])
            try await Awaiting.fact("its period ends, and the grace begins", is: "in_grace") {
                try await scene.relay.subscription(scene.life)["status"].string
            }
            #expect(try await scene.told(id) == ["granted", nil])
            try await scene.tell(scene.life.graceEnded(at: now.addingTimeInterval(2)))
            try await Awaiting.fact("access ends with the period", is: ["revoked", "expired"]) {
                try await scene.told(id)
            }
            #expect(try await scene.relay.subscription(scene.life)["status"].string == "in_billing_retry")
            try await scene.tell(scene.life.recovered(at: now.addingTimeInterval(3)))
            #expect(try await scene.told(id) == ["granted", nil])
            try await scene.tell(scene.life.upgraded(to: "com.example.app.yearly", at: now.addingTimeInterval(4)))
            #expect(try await scene.told(id) == ["granted", nil])
            #expect(
                try await scene.relay.subscription(scene.life)["productId"].string == "com.example.app.yearly")
            try await scene.tell(scene.life.revoked(at: now.addingTimeInterval(5)))
            #expect(try await scene.told(id)[0] == "revoked")
        }
    }

    @Test func notificationsBeforeThePurchaseApplyToIt() async throws {
        try await run { scene in
            try await scene.tell(scene.life.bought(at: Date().addingTimeInterval(-10)))
            try await scene.tell(scene.life.renewalTurned(.off, at: Date().addingTimeInterval(-5)))
            let id = try await scene.buy("ana@example.test")
            let subscription = try await Awaiting.fact("it has an owner") {
                try await scene.relay.subscription(scene.life)
            } holds: {
                $0["customerEmail"].string == "ana@example.test"
            }
            #expect(subscription["willRenew"].bool == false)
            #expect(try await scene.told(id) == ["granted", nil])
        }
    }

    @Test func aSubscriptionThatWillNotRenewEndsByItself() async throws {
        try await run(period: 2) { scene in
            scene.life.bought(at: Date())
            let id = try await scene.buy("ana@example.test")
            try await scene.tell(scene.life.renewalTurned(.off, at: Date()))
            #expect(try await scene.told(id) == ["granted", nil])
            try await Awaiting.fact("it has ended", is: ["revoked", "expired"]) { try await scene.told(id) }
        }
    }

    @Test func cleengIsAskedAboutAnUnreportedRenewalBeforeItExpires() async throws {
        try await run(period: 1, settings: ["RELAY_APPLE_RENEWAL_LEEWAY_SECONDS": "1"]) { scene in
            scene.life.bought(at: Date())
            let control = SimulatorControl(scene.setup.simulator)
            let id = try await scene.buyUntilSoon(control)
            try await control.entitle(
                "ana@example.test", to: "S123456789_US", status: "active", until: Date().addingTimeInterval(30 * 86_400)
            )
            let reads = try await control.reads(of: "ana@example.test").count
            try await Awaiting.fact("Cleeng is asked") {
                try await control.reads(of: "ana@example.test").count
            } holds: {
                $0 > reads
            }
            #expect(try await scene.told(id) == ["granted", nil])
            let events = try await Awaiting.fact("it is noted") {
                try await scene.relay.subscription(scene.life)["timeline"].array ?? []
            } holds: {
                $0.contains { $0["detail"].string == "Cleeng: entitled to S123456789_US" }
            }
            #expect(events.contains { $0["event"].string == "looked_up" })
            // Until the end that Cleeng stated, the relay does not ask again.
            let next = try #require(try await scene.relay.subscription(scene.life)["nextLookAt"].string)
            #expect(next > String(Date().addingTimeInterval(86_400).ISO8601Format().prefix(19)))
        }
    }

    @Test func whileCleengCannotBeAskedNothingIsOver() async throws {
        try await run(period: 1, settings: ["RELAY_APPLE_RENEWAL_LEEWAY_SECONDS": "1"]) { scene in
            scene.life.bought(at: Date())
            let control = SimulatorControl(scene.setup.simulator)
            let id = try await scene.buyUntilSoon(control)
            try await control.trouble("read-503")
            try await Awaiting.fact("it is tried", is: "Cleeng could not be asked") {
                try await scene.relay.subscription(scene.life)["trouble"].string
            }
            #expect(try await scene.told(id) == ["granted", nil])
            #expect(try await scene.relay.subscription(scene.life)["status"].string == "active")
            let gone = try await HTTP.post(
                scene.setup.simulator.url + "/_simulator/customers/ana@example.test/entitlements",
                body: Data(#"{"offerId":"S123456789_US","status":"terminated"}"#.utf8))
            #expect(gone.status == 200, "\(gone.text)")
            try await control.heal()
            try await Awaiting.fact("it has ended", is: ["revoked", "expired"]) { try await scene.told(id) }
        }
    }

    @Test func aMoveIntoABundleTakesTheValidationAlong() async throws {
        try await run { scene in
            scene.life.bought(at: Date().addingTimeInterval(-60))
            let id = try await scene.buy("ana@example.test")
            var old = scene.life
            let number = TestPurchase.newTransactionID()
            try await scene.tell(
                scene.life.movedToBundle(newOriginalTransactionId: number, at: Date().addingTimeInterval(-30)))
            try await scene.tell(old.expired(at: Date().addingTimeInterval(-20)))
            #expect(try await scene.told(id) == ["granted", nil])
            let moved = try await scene.relay.ops("/ops/subscriptions?originalTransactionId=\(number)").json["items"][0]
            #expect(moved["customerEmail"].string == "ana@example.test")
            try await scene.tell(scene.life.refunded(at: Date()))
            #expect(try await scene.told(id) == ["revoked", "refunded"])
        }
    }
}
