import Foundation
import NIOHTTP1
import Postgres
import TestRun
import Testing

/// Tests of subscriptions at Google Play that are sent through Cleeng's Google Play connector. The service and the
/// simulators are processes.
@Suite struct GoogleConnectorTests {
    /// The relay has no access to the store, so it does not know the type of the purchase.
    private func run(
        _ more: [String: String] = [:], grantAfter: Double = 0.3,
        _ body: (Relay, SimulatorControl) async throws -> Void
    ) async throws {
        try await run(more, grantAfter: grantAfter) { relay, control, _ in try await body(relay, control) }
    }

    /// - Parameter body: its last parameter starts another copy.
    private func run(
        _ more: [String: String] = [:], grantAfter: Double = 0.3,
        _ body: (Relay, SimulatorControl, () async throws -> Relay) async throws -> Void
    ) async throws {
        let database = try await TestDatabase.make()
        let simulator = try await Simulator.start(grantAfter: grantAfter)
        var relays: [Relay] = []
        do {
            let settings = ["RELAY_CLEENG_GOOGLE_URL": simulator.url + "/google/"].merging(more) { $1 }
            func start() async throws -> Relay {
                let relay = try await Relay.start(
                    database: database, simulator: simulator, keys: relays.first?.keys, settings: settings)
                relays.append(relay)
                return relay
            }
            try await body(try await start(), SimulatorControl(simulator), start)
        } catch {
            for relay in relays { await relay.end() }
            await simulator.end()
            try? await database.drop()
            throw error
        }
        for relay in relays { await relay.end() }
        await simulator.end()
        try await database.drop()
    }

    private func post(
        _ token: String, by email: String, number: Int?, product: String = "gold", coupon: String? = nil,
        to relay: Relay
    ) async throws -> HTTP.Answer {
        var body: [String: Any] = [
            "customerEmail": email, "offerId": "S123456789_US",
            "receipt": ["productId": product, "purchaseToken": token, "packageName": "com.example.app"],
        ]
        body["cleengCustomerId"] = number
        body["couponCode"] = coupon
        return try await HTTP.post(
            relay.url + "/android/payment",
            headers: ["Authorization": "Bearer \(relay.keys.app)", "Content-Type": "application/json"],
            body: try JSONSerialization.data(withJSONObject: body))
    }

    /// - Returns: the validation's id.
    private func pursue(
        _ token: String, by email: String, product: String = "gold", _ relay: Relay, _ control: SimulatorControl
    ) async throws -> String {
        let number = try await control.number(of: email)
        let answer = try await post(token, by: email, number: number, product: product, to: relay)
        return try #require(answer.json["validationId"].string, "\(answer.text)")
    }

    @Test func aSubscriptionIsRegisteredFollowedAndGranted() async throws {
        try await run { relay, control in
            let number = try await control.number(of: "ana@example.test")
            let answer = try await post(
                "t-1", by: "ana@example.test", number: number, coupon: "SUMMER", to: relay)
            #expect(answer.json["warnings"][0]["field"].string == "couponCode")
            let id = try #require(answer.json["validationId"].string)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            let calls = try await control.connector()
            let registration = try #require(calls.first)
            #expect(registration.path == "/google/purchases" && registration.status == 202)
            // The simulator's log keeps only the length.
            #expect(registration.body["purchaseToken"]["length"].int == 3)
            #expect(try await control.subscription("t-1")["customerEmail"].string == "ana@example.test")
            #expect(registration.body["productType"].string == "subscription")
            #expect(registration.body["cleengCustomerId"].int == number)
            let name = try #require(registration.correlation)
            #expect(calls.count > 1 && calls.dropFirst().allSatisfy { $0.path.hasSuffix(name) })
            #expect(try await control.android().isEmpty)
            // The entitlement is read once, before the registration.
            #expect(try await control.reads(of: "ana@example.test").count == 1)
            let detail = try await relay.detail(id)
            #expect(detail["driver"].string == "google_v2" && detail["evidence"]["source"].string == "google_v2")
        }
    }

    @Test(arguments: ["", "+google-idempotent"])
    func anotherCustomersPurchaseIsTransferred(tag: String) async throws {
        try await run { relay, control in
            let ana = try await pursue("t-1", by: "ana@example.test", relay, control)
            #expect(try await relay.outcome(ana)["status"].string == "granted")
            let ben = try await pursue("t-1", by: "ben\(tag)@example.test", relay, control)
            #expect(try await relay.outcome(ben)["status"].string == "granted")
            #expect(try await relay.becomes("transferred", ana)["accessGranted"].bool == false)
            let stats = try await control.stats()
            #expect(stats["registrations"].int == 2 && stats["transferRequests"].int == 1)
            #expect(try await control.subscription("t-1")["customerEmail"].string == "ben\(tag)@example.test")
        }
    }

    /// Cleeng has registered it for a customer whom the relay does not know. The end of that synchronization neither
    /// grants nor refuses here.
    @Test(.whole) func anUnknownOwnersSynchronizationDecidesNothing() async throws {
        try await run(["RELAY_TRANSFER_POLICY": "refuse"]) { relay, control in
            let other = try await control.number(of: "other@example.test")
            try await control.register("t-1", for: other)
            let eve = try await pursue("t-1", by: "eve@example.test", relay, control)
            try await Awaiting.fact("the entitlement has been read three times") {
                try await relay.timeline(eve, "entitlement_read").count
            } holds: {
                $0 >= 3
            }
            #expect(try await relay.poll(eve).json["status"].string == "pending")
            try await relay.database.letDeadlinesCome()
            #expect(try await relay.outcome(eve)["status"].string == "timed_out")
            #expect(try await control.stats()["transferRequests"].int == 0)
        }
    }

    @Test(.whole) func anUnknownOwnersPurchaseIsTransferred() async throws {
        try await run { relay, control in
            try await control.register("t-1", for: try await control.number(of: "other@example.test"))
            let eve = try await pursue("t-1", by: "eve@example.test", relay, control)
            #expect(try await relay.outcome(eve)["status"].string == "granted")
            #expect(try await control.stats()["transferRequests"].int == 1)
            #expect(try await control.subscription("t-1")["customerEmail"].string == "eve@example.test")
        }
    }

    /// The entitlement exists two seconds after the end of the synchronization.
    @Test(
        .whole,
        arguments: ["move", "refuse"],
        TestRun.all(["", "lost-answer-1+google-renaming+", "lost-answer-1+"], otherwise: 1))
    func anEntitlementThatLagsIsWaitedFor(policy: String, tags: String) async throws {
        let settings = ["RELAY_TRANSFER_POLICY": policy, "RELAY_POLL_INTERVAL_SECONDS": "3"]
        try await run(settings) { relay, control in
            let ana = "ana+\(tags)google-lagging-2s@example.test"
            if tags.isEmpty { try await control.register("t-1", for: try await control.number(of: ana)) }
            let id = try await pursue("t-1", by: ana, relay, control)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            #expect(try await control.stats()["transferRequests"].int == 0)
            #expect(try await relay.timeline(id, "entitlement_read").count == 2)
        }
    }

    /// While no entitlement could be read, the relay used to ask for the ended synchronization four times a second.
    @Test(.whole) func withoutEntitlementReadsTheSynchronizationIsReadOnce() async throws {
        // It knows the customers by the same numbers, since they were made in the same order.
        let reads = try await Simulator.start()
        let other = SimulatorControl(reads)
        try await other.trouble("read-503")
        try await run(["RELAY_CLEENG_API_URL": reads.url]) { relay, control in
            for number in 0..<8 {
                let email = "c\(number)@example.test"
                #expect(try await other.number(of: email) == control.number(of: email))
                try await control.register("t-\(number)", for: try await control.number(of: email))
                _ = try await pursue("t-\(number)", by: email, relay, control)
            }
            try await Awaiting.fact("each waits for the entitlement", is: 8) {
                try await relay.database.query("SELECT count(*) FROM pursuits WHERE phase = 1").first?.get(
                    0, as: Int.self)
            }
            let asked = try await control.connector().filter { $0.path.contains("/synchronizations/") }
            #expect(asked.count == 8)
        }
        await reads.end()
    }

    /// Cleeng accepted the registration, and the copy died before it wrote that.
    @Test func whatAKilledCopyRegisteredIsFound() async throws {
        try await run { relay, control, start in
            let id = try await pursue("t-1", by: "ana+slow-30s-1@example.test", relay, control)
            try await Awaiting.fact("Cleeng has registered it", is: 1) { try await control.stats()["grants"].int }
            relay.process.signal(SIGKILL)
            let other = try await start()
            #expect(try await other.outcome(id)["status"].string == "granted")
            let stats = try await control.stats()
            #expect(stats["grants"].int == 1 && stats["transferRequests"].int == 0)
        }
    }

    /// The answer to the repeated registration names the old synchronization, which ended without access.
    @Test(.whole) func anOperatorsRetryIsDecidedByTheEntitlement() async throws {
        try await run { relay, control in
            let ana = "ana+google-expired@example.test"
            let id = try await pursue("t-1", by: ana, relay, control)
            #expect(try await relay.outcome(id)["reason"].string == "received_expired_purchase")
            #expect(try await relay.opsPost("/ops/validations/\(id)/retry").status == 202)
            try await Awaiting.fact("the entitlement is read") {
                try await relay.timeline(id, "entitlement_read").count
            } holds: {
                $0 >= 1
            }
            #expect(try await relay.timeline(id, "rejected").count == 1)
            try await control.entitle(ana, to: "S123456789_US", status: "active", original: "t-1")
            #expect(try await relay.becomes("granted", id)["accessGranted"].bool == true)
        }
    }

    /// A purchase that was registered for the same customer before the relay existed.
    @Test(.whole) func whatTheCustomerHasAlreadyIsGranted() async throws {
        try await run { relay, control in
            try await control.register("t-1", for: try await control.number(of: "ana@example.test"))
            let ana = try await pursue("t-1", by: "ana@example.test", relay, control)
            #expect(try await relay.outcome(ana)["status"].string == "granted")
            #expect(try await control.stats()["transferRequests"].int == 0)
        }
    }

    /// The answer is lost although Cleeng accepted the registration. The next one is answered 409 with the same
    /// synchronization.
    @Test(arguments: TestRun.all(["lost-answer-1+google-renaming", "lost-answer-1", "google-renaming"], otherwise: 1))
    func aLostAnswerIsRecovered(tags: String) async throws {
        try await run { relay, control in
            let id = try await pursue("t-1", by: "ana+\(tags)@example.test", relay, control)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            let stats = try await control.stats()
            #expect(stats["grants"].int == 1 && stats["transferRequests"].int == 0)
        }
    }

    @Test func aRefusedPurchaseIsRejectedWithCleengsReason() async throws {
        try await run { relay, control in
            let id = try await pursue("t-1", by: "ana+google-expired@example.test", relay, control)
            let outcome = try await relay.outcome(id)
            #expect(outcome["status"].string == "rejected" && outcome["reason"].string == "received_expired_purchase")
            #expect(try await control.android().isEmpty)
        }
    }

    /// The store was not asked whether it is a subscription, and the connector does not know it.
    @Test(.whole) func aPurchaseUnknownToTheConnectorIsSentAsAReceipt() async throws {
        try await run { relay, control in
            let id = try await pursue("t-1", by: "ana+google-unknown@example.test", relay, control)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            #expect(try await control.android().count == 1)
            // From now on the other route sends it.
            #expect(try await relay.detail(id)["driver"].string == "google")
        }
    }

    @Test func withoutACustomerNumberOrByTheSettingItIsSentAsAReceipt() async throws {
        try await run { relay, control in
            let answer = try await post("t-1", by: "ana@example.test", number: nil, to: relay)
            let id = try #require(answer.json["validationId"].string)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            #expect(try await relay.detail(id)["driver"].string == "google")
            #expect(try await control.connector().isEmpty)
            let wrong = try await post("t-2", by: "ana@example.test", number: 0, to: relay)
            #expect(wrong.status == 422 && wrong.json["errors"][0]["field"].string == "cleengCustomerId")
        }
        try await run(["RELAY_CLEENG_DRIVER": "receipt"]) { relay, control in
            let id = try await pursue("t-1", by: "ana@example.test", relay, control)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            #expect(try await control.connector().isEmpty)
            #expect(try await control.android().count == 1)
        }
    }

    /// The field had no meaning before the connector existed: apps may send any value.
    @Test(.whole) func withoutTheConnectorTheNumberIsIgnored() async throws {
        try await run(["RELAY_CLEENG_GOOGLE_URL": ""]) { relay, _ in
            for (token, number) in [("t-1", 0), ("t-2", 700_000_001)] {
                let answer = try await post(token, by: "ana@example.test", number: number, to: relay)
                #expect(answer.status == 202)
                let id = try #require(answer.json["validationId"].string)
                let detail = try await relay.detail(id)
                #expect(detail["cleengCustomerId"].int == nil && detail["driver"].string == "google")
            }
        }
    }

    /// Google states which of the two is a subscription.
    @Test(.whole) func onlyASubscriptionIsSentThroughTheConnector() async throws {
        try await OtherStores.run { stores in
            try await run(stores.settings) { relay, control in
                try await stores.google.has("sub-1")
                let subscription = try await pursue("sub-1", by: "ana@example.test", relay, control)
                let granted = try await relay.outcome(subscription)
                #expect(granted["status"].string == "granted" && granted["expiresAt"].string != nil)
                #expect(try await relay.detail(subscription)["driver"].string == "google_v2")
                try await stores.google.control(.PUT, "products/once-1", #"{"productId":"film"}"#)
                let once = try await pursue("once-1", by: "ben@example.test", product: "film", relay, control)
                #expect(try await relay.outcome(once)["status"].string == "granted")
                #expect(try await relay.detail(once)["driver"].string == "google")
                #expect(try await control.android().count == 1)
            }
        }
    }

    @Test(.whole) func cleengsEventEndsTheWait() async throws {
        let secret = "a-shared-secret-of-the-tests"
        let settings = ["RELAY_CLEENG_WEBHOOK_SECRET": secret, "RELAY_POLL_INTERVAL_SECONDS": "15"]
        try await run(settings, grantAfter: 1) { relay, control in
            try await control.tell(relay, secret: secret)
            let id = try await pursue("t-1", by: "ana@example.test", relay, control)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            let told = try await relay.timeline(id, "cleeng_event").compactMap { $0["detail"].string }
            // Cleeng sends both events at once, and either ends the wait.
            #expect(told.count == 1)
            #expect(["inappPurchaseSyncResult: PURCHASE_REGISTERED", "subscriptionCreated"].contains(told.first))
        }
    }

    @Test func anInactiveConnectorRejectsNoPurchase() async throws {
        try await run { relay, control in
            try await control.trouble("google-inactive")
            let id = try await pursue("t-1", by: "ana@example.test", relay, control)
            try await Awaiting.fact("ops sees the fault", is: "misconfigured") {
                try await relay.ops("/ops/summary").json["upstream"]["state"].string
            }
            #expect(try await relay.poll(id).json["status"].string == "pending")
            try await control.heal()
            #expect(try await relay.outcome(id)["status"].string == "granted")
        }
    }
}
