import AppStoreSimulation
import Foundation
import Testing

/// With a catalogue, a subscription gives access to the offer of its present product.
@Suite struct OffersFollowProductsTests {
    private static let (monthly, yearly) = ("S123456789_US", "S987654321_US")
    private static let secret = "a secret of Cleeng's webhooks"

    private struct Scene {
        var setup: Setup
        var relay: Relay { setup.relay }
        var control: SimulatorControl
        var store: TestAppStore
        var life: SimulatedSubscription

        func buy(_ offer: String) async throws -> String {
            var purchase = try store.purchase(life, email: "ana@example.test")
            purchase.offer = offer
            let id = try await relay.pursue(purchase)
            _ = try await relay.becomes("granted", id)
            return id
        }

        func tell(_ notification: SimulatedNotification) async throws {
            #expect(try await relay.notify(notification, signedBy: store).status == 200)
        }

        /// Access by a question that names customer and offer.
        func hasAccess(_ offer: String) async throws -> Bool? {
            try await HTTP.get(
                relay.url + "/entitlements?customerEmail=ana@example.test&offerId=\(offer)",
                headers: ["Authorization": "Bearer \(relay.keys.app)"]
            ).json["accessGranted"].bool
        }

        func isReplaced(_ id: String) async throws {
            let ended = try await relay.becomes("revoked", id)
            #expect(ended["reason"].string == "replaced" && ended["accessGranted"].bool == false, "\(ended)")
        }
    }

    /// - Parameter tells: whether Cleeng sends events of ends.
    private func run(tells: Bool = true, _ body: (inout Scene) async throws -> Void) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let settings = store.settings(
            relayingTo: nil, ["RELAY_CLEENG_WEBHOOK_SECRET": Self.secret, "RELAY_APPLE_RENEWAL_LEEWAY_SECONDS": "5"])
        let offers = [(Self.monthly, "com.example.app.monthly"), (Self.yearly, "com.example.year")]
        try await Setup.run(offers: offers, settings: settings) { setup in
            var scene = Scene(
                setup: setup, control: SimulatorControl(setup.simulator), store: store, life: try store.subscription())
            if tells { try await scene.control.tell(setup.relay, secret: Self.secret) }
            try await body(&scene)
        }
    }

    @Test func anUpgradeChangesTheOfferAtOnceAndADowngradeAtTheRenewal() async throws {
        try await run { scene in
            scene.life.bought(at: Date())
            let month = try await scene.buy(Self.monthly)
            try await scene.tell(scene.life.upgraded(to: "com.example.year", at: Date()))
            let year = try await scene.buy(Self.yearly)
            // Cleeng states that the former offer has ended. Nothing else may end.
            try await scene.control.entitle("ana@example.test", to: Self.monthly, status: "terminated")
            try await scene.isReplaced(month)
            #expect(try await scene.relay.poll(year).json["status"].string == "granted")
            #expect(try await scene.hasAccess(Self.monthly) == false)
            #expect(try await scene.hasAccess(Self.yearly) == true)
            var subscription = try await scene.relay.subscription(scene.life)
            #expect(subscription["offerId"].string == Self.yearly && subscription["status"].string == "active")

            try await scene.tell(scene.life.downgraded(to: "com.example.app.monthly", at: Date()))
            #expect(try await scene.relay.poll(year).json["status"].string == "granted")
            try await scene.control.entitle("ana@example.test", to: Self.monthly, status: "active")
            try await scene.control.entitle("ana@example.test", to: Self.yearly, status: "terminated")
            try await scene.tell(scene.life.renewed(at: Date()))
            try await scene.isReplaced(year)
            subscription = try await scene.relay.subscription(scene.life)
            #expect(subscription["status"].string == "active", "\(subscription)")
            let again = try await scene.buy(Self.monthly)
            #expect(try await scene.hasAccess(Self.monthly) == true)
            #expect(try await scene.hasAccess(Self.yearly) == false)
            #expect(try await scene.relay.poll(again).json["status"].string == "granted")
        }
    }

    /// Guards against a former offer that stays open for a minute without an event.
    @Test func aFormerOfferIsReadSoonIfCleengSendsNoEvent() async throws {
        try await run(tells: false) { scene in
            scene.life.bought(at: Date())
            let month = try await scene.buy(Self.monthly)
            try await scene.control.entitle("ana@example.test", to: Self.monthly, status: "terminated")
            let start = ContinuousClock.now
            try await scene.tell(scene.life.upgraded(to: "com.example.year", at: Date()))
            try await scene.isReplaced(month)
            #expect(ContinuousClock.now - start < .seconds(45))
        }
    }

    /// Guards against a question to Cleeng about the last grant's offer, which is no longer the present one: a no would
    /// end the running plan.
    @Test func aLostRenewalIsReadByThePresentProductsOffer() async throws {
        try await run { scene in
            scene.life.bought(at: Date())
            let month = try await scene.buy(Self.monthly)
            scene.life.period = 4
            try await scene.tell(scene.life.upgraded(to: "com.example.year", at: Date()))
            let year = try await scene.buy(Self.yearly)
            try await scene.control.entitle("ana@example.test", to: Self.yearly, status: "terminated")
            let later = Date() + 86_400
            try await scene.control.entitle("ana@example.test", to: Self.monthly, status: "active", until: later)
            try await scene.tell(scene.life.downgraded(to: "com.example.app.monthly", at: Date()))
            try await scene.tell(scene.life.renewed(at: Date()))
            // No notification arrives for the next renewal.
            let known = try await Awaiting.fact("Cleeng's later end of the present offer is taken over") {
                try await scene.relay.poll(month).json
            } holds: {
                $0["expiresAt"].string.flatMap(Date.init(milliseconds:)).map { $0 > later - 2 } == true
            }
            #expect(known["status"].string == "granted", "\(known)")
            try await scene.isReplaced(year)
            #expect(try await scene.relay.subscription(scene.life)["status"].string == "active")
        }
    }

    /// Guards against Cleeng's end of a former offer that ends the subscription for the publisher's back end and its
    /// billing.
    @Test func theEndOfAFormerOfferEndsNeitherPurchaseNorContract() async throws {
        try await run { scene in
            let key = try await Relay.makeKey("publisher", scene.setup.database)
            scene.life.bought(at: Date())
            var billing = BillingScene(
                scene: PublisherScene(setup: scene.setup, store: scene.store, life: scene.life, key: key), token: "")
            billing.token = try await billing.grant(key: key)
            let month = try await scene.buy(Self.monthly)
            let contract = try #require(try await billing.contract()["Id"].string)
            try await scene.tell(scene.life.upgraded(to: "com.example.year", at: Date()))
            let year = try await scene.buy(Self.yearly)
            // With the yearly offer, Cleeng ended the monthly one.
            let events = try await Awaiting.fact("Cleeng has told of the end") {
                try await scene.control.deliveries()
            } holds: {
                $0.contains { $0["topic"].string == "subscriptionTerminated" }
            }
            try await scene.relay.hasHandledEvents(events.count)
            try await scene.isReplaced(month)
            let purchase = try await billing.scene.purchases("ana@example.test")["apple:com.example.year"]
            #expect(purchase["isExpired"].bool == false, "\(purchase)")
            let state = try await billing.get("/Contracts/\(contract)").json
            #expect(state["LifecycleStatus"].string == "Active", "\(state)")
            #expect(state["CurrentPhase"]["PlanVariantId"].string == "apple:com.example.year", "\(state)")
            #expect(try await scene.relay.poll(year).json["status"].string == "granted")
        }
    }
}
