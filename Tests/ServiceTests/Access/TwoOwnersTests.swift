import Foundation
import Testing

/// One subscription has one granted customer: the one whom Cleeng entitles.
@Suite struct TwoOwnersTests {
    private static let offer = "S123456789_US"

    /// - Parameter more: further settings.
    private func run(
        _ more: [String: String] = [:], _ body: (Setup, SimulatorControl) async throws -> Void
    ) async throws {
        // For that time after a grant, Cleeng may still be moving the subscription.
        let settings = ["RELAY_VALIDATION_TIMEOUT_SECONDS": "3"].merging(more, uniquingKeysWith: { $1 })
        try await Setup.run(settings: settings) { setup in
            try await body(setup, SimulatorControl(setup.simulator))
        }
    }

    /// Ana owns the subscription. Ben has the offer by a purchase on the web and posts her receipt: both are granted.
    private func letBothIn(
        _ relay: Relay, _ control: SimulatorControl
    ) async throws -> (original: String, ana: String, ben: String) {
        let original = TestPurchase.newTransactionID()
        let ana = try await relay.pursue("ana@example.test", original: original)
        _ = try await relay.becomes("granted", ana)
        try await control.entitle("ben+never@example.test", to: Self.offer, status: "active", until: Date() + 86_400)
        let ben = try await relay.pursue("ben+never@example.test", original: original)
        _ = try await relay.becomes("granted", ben)
        #expect(try await relay.poll(ana).json["status"].string == "granted")
        return (original, ana, ben)
    }

    /// - Ana's forward is answered 500. Ben's newer request overtakes it and is granted.
    /// - Then Cleeng moves the subscription to Ana, because it had accepted her failed try.
    /// - Then Ben posts again, and Cleeng moves it back.
    ///
    /// Guards against two granted customers of one subscription, and against a former owner who cannot get it back.
    @Test func aFailedTryThatCleengAcceptedMakesItsCustomerTheOwner() async throws {
        try await run { setup, control in
            let (relay, original) = (setup.relay, TestPurchase.newTransactionID())
            try await control.behave("ana@example.test", "flaky-1", "never")
            let ana = try await relay.pursue("ana@example.test", original: original)
            try await Awaiting.fact("the first try has failed", is: 1) {
                try await relay.timeline(ana, "forward_failed").count
            }
            let ben = try await relay.pursue("ben@example.test", original: original)
            _ = try await relay.becomes("granted", ben)
            try await control.entitle("ana@example.test", to: Self.offer, status: "active", original: original)
            _ = try await relay.becomes("granted", ana)
            _ = try await relay.becomes("transferred", ben)

            let again = try await relay.pursue(
                TestPurchase(email: "ben@example.test", original: original, transactionID: "2000000999999999"))
            _ = try await relay.becomes("granted", again)
            _ = try await relay.becomes("transferred", ana)
            #expect(try await control.subscription(original)["customerEmail"].string == "ben@example.test")
            // No pending request could grant Ana again.
            try await Awaiting.fact("both wait for nothing", is: true) {
                let details = [try await relay.detail(ana), try await relay.detail(again)]
                return details.allSatisfy { $0["nextStepAt"].isNull }
            }
            #expect(try await relay.poll(ana).json["status"].string == "transferred")
            #expect(try await relay.poll(again).json["status"].string == "granted")
            let owned = try await relay.ops("/ops/subscriptions?originalTransactionId=\(original)").json["items"]
            #expect(owned.array?.map { $0["customerEmail"].string } == ["ben@example.test"], "\(owned)")
        }
    }

    /// Ben has the offer by a purchase on the web, and Cleeng does not answer about Ana, who owns the subscription.
    @Test func aCustomerWithTheOfferIsLetInThoughTheOwnerCannotBeRead() async throws {
        // The grant is written in the last part of an interval before the deadline; a slow machine needs that part long.
        let settings = ["RELAY_VALIDATION_TIMEOUT_SECONDS": "20", "RELAY_POLL_INTERVAL_SECONDS": "5"]
        try await run(settings) { setup, control in
            let (relay, original) = (setup.relay, TestPurchase.newTransactionID())
            let ana = try await relay.pursue("ana@example.test", original: original)
            _ = try await relay.becomes("granted", ana)
            try await control.behave("ana@example.test", "read-down")
            try await control.entitle(
                "ben+never@example.test", to: Self.offer, status: "active", until: Date() + 86_400)
            let ben = try await relay.pursue("ben+never@example.test", original: original)
            // Also in time: the app must not read `timed_out` first.
            #expect(try await relay.becomes("granted", ben)["late"].bool == false)
            #expect(try await relay.poll(ana).json["status"].string == "granted")
            let owned = try await relay.ops("/ops/subscriptions?originalTransactionId=\(original)").json["items"]
            #expect(owned[0]["customerEmail"].string == "ana@example.test", "\(owned)")
        }
    }

    /// Ben has the offer by a purchase on the web. Cleeng moves nothing when he posts Ana's receipt.
    @Test func aCustomerWhoHadTheOfferTakesNoSubscription() async throws {
        try await run { setup, control in
            let relay = setup.relay
            let (original, ana, ben) = try await letBothIn(relay, control)
            #expect(try await relay.detail(ben)["entitledBefore"].bool == true)
            #expect(try await relay.detail(ben)["transfer"].isNull)
            // Ana is no longer entitled at Cleeng, so Ben takes the subscription.
            try await control.entitle("ana@example.test", to: Self.offer, status: "terminated")
            let again = try await relay.pursue(
                TestPurchase(email: "ben+never@example.test", original: original, transactionID: "2000000999999999"))
            _ = try await relay.becomes("granted", again)
            _ = try await relay.becomes("transferred", ana)
        }
    }

    /// The deadline is far away, so only a read two intervals after the forward can end the wait. That is the third one, or
    /// the second if the question about the owner had to wait.
    @Test func aSecondEntitledCustomerIsGrantedAfterTwoIntervals() async throws {
        let settings = ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300", "RELAY_POLL_INTERVAL_SECONDS": "1"]
        try await Setup.run(settings: settings) { setup in
            let (relay, control) = (setup.relay, SimulatorControl(setup.simulator))
            let (_, _, ben) = try await letBothIn(relay, control)
            #expect(try await relay.poll(ben).json["late"].bool == false)
            #expect(try await (2...3).contains(relay.timeline(ben, "entitlement_read").count))
            #expect(try await relay.detail(ben)["transfer"].isNull)
        }
    }

    /// Ben is let in beside Ana, since Cleeng entitles both. Later Cleeng says that it moved her subscription to him.
    @Test func aSubscriptionThatCleengMovesLaterHasItsNewCustomerAlone() async throws {
        let secret = "a-shared-secret-of-the-tests"
        let settings = ["RELAY_VALIDATION_TIMEOUT_SECONDS": "3", "RELAY_CLEENG_WEBHOOK_SECRET": secret]
        try await Setup.run(settings: settings) { setup in
            let (relay, control) = (setup.relay, SimulatorControl(setup.simulator))
            let (original, ana, ben) = try await letBothIn(relay, control)

            let (from, to) = (
                try await control.number(of: "ana@example.test"), try await control.number(of: "ben+never@example.test")
            )
            let text = """
                {"broadcasterId":123456789,"topic":"inappPurchaseValidationSucceeded","data":{\
                "result":"SubscriptionTransferred","offerId":"\(Self.offer)","active":true,\
                "customerId":\(to),"prevCustomerId":\(from)}}
                """
            let send = { try await relay.cleengEvent(Data(text.utf8), secret: secret, signature: nil).status }
            // An event has no time. While Cleeng entitles Ana, it says nothing new.
            #expect(try await send() == 200)
            try await relay.hasHandledEvents(1)
            #expect(try await relay.poll(ana).json["status"].string == "granted")
            try await control.entitle("ana@example.test", to: Self.offer, status: "terminated")
            #expect(try await send() == 200)
            _ = try await relay.becomes("transferred", ana)
            #expect(try await relay.poll(ben).json["status"].string == "granted")
            let owned = try await relay.ops("/ops/subscriptions?originalTransactionId=\(original)").json["items"]
            #expect(owned.array?.map { $0["customerEmail"].string } == ["ben+never@example.test"], "\(owned)")
        }
    }
}
