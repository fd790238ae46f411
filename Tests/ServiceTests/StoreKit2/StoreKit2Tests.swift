import AppStoreSimulation
import Foundation
import TestRun
import Testing

/// Purchases that are sent to Cleeng through StoreKit 2, with the service and the simulator as processes.
@Suite final class StoreKit2Tests {
    private let store: TestAppStore

    init() throws { store = try TestAppStore() }

    deinit { store.end() }

    private func run(
        _ more: [String: String] = [:], grantAfter: Double = 0.6,
        _ body: (Relay, SimulatorControl) async throws -> Void
    ) async throws {
        var settings = store.settings("observe")
        settings["RELAY_VALIDATION_TIMEOUT_SECONDS"] = "300"
        settings.merge(more, uniquingKeysWith: { $1 })
        try await Setup.run(grantAfter: grantAfter, settings: settings) { setup in
            try await body(setup.relay, SimulatorControl(setup.simulator))
        }
    }

    /// A signed purchase of this customer, with the customer's number at Cleeng.
    private func purchase(
        _ email: String, original: String = TestPurchase.newTransactionID(), _ control: SimulatorControl
    ) async throws -> TestPurchase {
        var purchase = try store.purchase(email: email, original: original)
        purchase.extra["cleengCustomerId"] = String(try await control.number(of: email))
        return purchase
    }

    @Test func aTransactionIsRegisteredFollowedAndGranted() async throws {
        try await run { relay, control in
            let purchase = try await purchase("ana@example.test", control)
            let id = try await relay.pursue(purchase)
            let outcome = try await relay.outcome(id)
            #expect(outcome["status"].string == "granted" && outcome["accessGranted"].bool == true)
            // Cleeng states no end, but the signed transaction does, from the first answer on.
            let expiresAt = try #require(outcome["expiresAt"].string)
            #expect(expiresAt > Date().addingTimeInterval(2_500_000).formatted(.iso8601))
            #expect(try await control.payments().isEmpty)
            let calls = try await control.storeKit2()
            let registration = try #require(calls.first)
            #expect(registration.path == "/storekit2/purchases" && registration.status == 202)
            #expect(registration.body["transactionId"].string == purchase.transactionID)
            #expect(registration.body["cleengCustomerId"].int == (try await control.number(of: "ana@example.test")))
            // The same digits in both, so that each can be found by the other.
            let name = try #require(registration.correlation)
            #expect(name.replacingOccurrences(of: "-", with: "").prefix(12) == id.dropFirst(6).prefix(12))
            let reads = calls.dropFirst()
            #expect(reads.count > 1 && reads.allSatisfy { $0.path.hasSuffix(name) })
            // The entitlement is read once, before the registration.
            #expect(try await control.reads(of: "ana@example.test").count == 1)
            let detail = try await relay.detail(id)
            #expect(detail["driver"].string == "storekit2")
            #expect(detail["evidence"]["source"].string == "storekit2")
            #expect(detail["entitledBefore"].bool == false)
            let events = try await relay.events(id)
            #expect(Array(events.prefix(3)) == ["accepted", "baseline_read", "forwarded"])
            let granted = try #require(events.firstIndex(of: "granted"))
            #expect(events[granted - 1] == "synchronization_read")
        }
    }

    /// Guards against access without end: neither a synchronization's result nor the signed transaction states one.
    /// Cleeng is asked again, and access that it revoked without an event ends.
    @Test(arguments: TestRun.all(["Consumable", "Non-Renewing Subscription"], otherwise: 1))
    func aGrantWithoutAKnownEndIsReadAgain(type: String) async throws {
        // Long enough that Cleeng's end exists before the relay asks.
        try await run(["RELAY_APPLE_RENEWAL_LEEWAY_SECONDS": "5"]) { relay, control in
            let email = "ana@example.test"
            var purchase = try await purchase(email, control)
            var bought = SimulatedTransaction(
                bundleId: "com.example.app", productId: "com.example.app.day", transactionId: purchase.transactionID,
                purchaseDate: Date() - 60, expiresDate: nil)
            bought.type = type
            purchase.receipt = try store.transactions.sign(json: bought.json(signedDate: Date() - 50))
            let id = try await relay.pursue(purchase)
            #expect(try await relay.becomes("granted", id)["expiresAt"].isNull)
            try await control.entitle(email, to: purchase.offer, status: "terminated")
            #expect(try await relay.detail(id)["evidence"]["source"].string == "storekit2")
            let ended = try await relay.becomes("revoked", id)
            #expect(ended["reason"].string == "expired" && ended["accessGranted"].bool == false)
        }
    }

    /// The app names another number besides: the signed one counts.
    @Test(.whole) func theSignedTransactionNamesWhatIsRegistered() async throws {
        try await run { relay, control in
            var purchase = try await purchase("ana@example.test", control)
            purchase.transactionID = "1"
            let id = try await relay.pursue(purchase)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            let registration = try #require(try await control.storeKit2().first)
            let signed = try #require(registration.body["transactionId"].string)
            #expect(signed != "1")
            #expect(try await relay.detail(id)["transactionId"].string == signed)
        }
    }

    @Test func aTransferOfAnotherCustomersPurchaseIsRequestedOnce() async throws {
        try await run { relay, control in
            let original = TestPurchase.newTransactionID()
            let ana = try await relay.pursue(try await purchase("ana@example.test", original: original, control))
            #expect(try await relay.outcome(ana)["status"].string == "granted")
            let ben = try await relay.pursue(try await purchase("ben@example.test", original: original, control))
            #expect(try await relay.outcome(ben)["status"].string == "granted")
            #expect(try await relay.becomes("transferred", ana)["accessGranted"].bool == false)
            let stats = try await control.stats()
            #expect(stats["registrations"].int == 2 && stats["transferRequests"].int == 1)
            let transfer = try await relay.detail(ben)["transfer"]
            #expect(transfer["from"].string == "ana@example.test" && transfer["to"].string == "ben@example.test")
            let details = try await relay.timeline(ben, "synchronization_read").compactMap { $0["detail"].string }
            #expect(details.contains("purchase_ownership_unchanged") && details.last == "access granted")
            #expect(try await relay.timeline(ben, "forwarded").map { $0["detail"].string } == [nil, "transfer"])
            #expect(try await control.subscription(original)["customerEmail"].string == "ben@example.test")
        }
    }

    /// An unsigned transaction may be registered, but not transferred from another customer.
    @Test func anUnsignedPurchaseIsNotTransferred() async throws {
        try await run(["RELAY_CLEENG_DRIVER": "storekit2"]) { relay, control in
            let original = TestPurchase.newTransactionID()
            let ana = try await relay.pursue(try await purchase("ana@example.test", original: original, control))
            #expect(try await relay.outcome(ana)["status"].string == "granted")
            var forged = TestPurchase(email: "eve@example.test", original: original)
            forged.extra["cleengCustomerId"] = String(try await control.number(of: "eve@example.test"))
            let eve = try await relay.pursue(forged)
            let outcome = try await relay.outcome(eve)
            #expect(outcome["status"].string == "rejected")
            #expect(outcome["reason"].string == "purchase_ownership_unchanged")
            #expect(try await relay.poll(ana).json["status"].string == "granted")
            #expect(try await control.stats()["transferRequests"].int == 0)
        }
    }

    /// Eve posts her own purchase with Ana's number: nothing may be given to Ana's account, and Eve's purchase must not
    /// be lost.
    @Test func anothersNumberIsLeftOut() async throws {
        try await run { relay, control in
            var purchase = try store.purchase(email: "eve@example.test")
            purchase.extra["cleengCustomerId"] = String(try await control.number(of: "ana@example.test"))
            let answer = try await relay.purchase(purchase)
            #expect(answer.status == 202 && answer.json["warnings"][0]["field"].string == "cleengCustomerId")
            let id = try #require(answer.json["validationId"].string)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            #expect(try await control.storeKit2().isEmpty)
            #expect(try await control.payments().first?.body["customerEmail"].string == "eve@example.test")
        }
        try await run(["RELAY_CLEENG_DRIVER": "storekit2"]) { relay, control in
            var purchase = try store.purchase(email: "eve@example.test")
            purchase.extra["cleengCustomerId"] = String(try await control.number(of: "ana@example.test"))
            let answer = try await relay.purchase(purchase)
            #expect(answer.status == 403 && answer.json["code"].string == "another_customer")
        }
    }

    /// The number is not known while Cleeng cannot be asked: the purchase is kept, and goes on afterwards.
    @Test(arguments: ["auto", "storekit2"]) func aNumberWaitsForCleeng(driver: String) async throws {
        try await run(["RELAY_CLEENG_DRIVER": driver, "RELAY_POLL_INTERVAL_SECONDS": "1"]) { relay, control in
            let ana = try await purchase("ana@example.test", control)
            var eve = try store.purchase(email: "eve@example.test")
            eve.extra = ana.extra
            try await control.trouble("down")
            let ids = [try await relay.pursue(ana), try await relay.pursue(eve)]
            _ = try await Awaiting.fact("both wait") {
                (try await relay.timeline(ids[0], "forward_failed"), try await relay.timeline(ids[1], "forward_failed"))
            } holds: {
                !$0.0.isEmpty && !$0.1.isEmpty
            }
            #expect(try await control.storeKit2().isEmpty)
            try await control.heal()
            #expect(try await relay.outcome(ids[0])["status"].string == "granted")
            let outcome = try await relay.outcome(ids[1])
            #expect(outcome["status"].string == (driver == "auto" ? "granted" : "rejected"))
            #expect(outcome["reason"].string == (driver == "auto" ? nil : "another_customer"))
            let numbers = try await control.storeKit2().compactMap { $0.body["transactionId"].string }
            #expect(Set(numbers) == [ana.transactionID])
        }
    }

    /// The connector gets only a transaction's id, so Cleeng could not see that the signature is forged.
    @Test func aForgedTransactionIsSentAsAReceipt() async throws {
        try await run { relay, control in
            var forged = TestPurchase(email: "eve@example.test")
            forged.extra["cleengCustomerId"] = String(try await control.number(of: "eve@example.test"))
            _ = try await relay.pursue(forged)
            try await Awaiting.fact("it is sent") {
                try await control.payments()
            } holds: {
                $0.count == 1
            }
            #expect(try await control.storeKit2().isEmpty)
        }
    }

    /// An app receipt that must use StoreKit 2 is registered by the transaction in it, not by the one that the app
    /// names.
    @Test(.whole) func aReceiptsOwnTransactionIsRegistered() async throws {
        try await run(["RELAY_CLEENG_DRIVER": "storekit2"]) { relay, control in
            var purchase = try store.receiptPurchase(email: "ana@example.test")
            let own = purchase.transactionID
            purchase.transactionID = "2000000099999999"
            purchase.extra["cleengCustomerId"] = String(try await control.number(of: "ana@example.test"))
            let id = try await relay.pursue(purchase)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            #expect(try await control.storeKit2().first?.body["transactionId"].string == own)
        }
    }

    /// StoreKit 2 is shut and delays an older request. A newer request through the other route is sent all the same.
    @Test(.whole) func aShutRouteDelaysNoNewerRequestOfTheOther() async throws {
        try await run { relay, control in
            try await control.trouble("storekit2-inactive")
            let original = TestPurchase.newTransactionID()
            let old = try await relay.pursue(try await purchase("ana@example.test", original: original, control))
            for number in 0..<6 { _ = try await relay.pursue(try await purchase("c\(number)@example.test", control)) }
            try await Awaiting.fact("the road is shut") {
                try await relay.metrics()
            } holds: {
                $0.contains(#"relay_upstream_breaker_state{route="storekit2_purchases",state="closed"} 0"#)
            }
            let new = try await relay.pursue(try store.purchase(email: "ben@example.test", original: original))
            #expect(try await relay.outcome(new)["status"].string == "granted")
            #expect(try await relay.outcome(old)["reason"].string == "superseded")
        }
    }

    /// A receipt of the same subscription through the other route takes it back.
    @Test(.whole) func aSubscriptionMovesBetweenTheRoutes() async throws {
        try await run { relay, control in
            let original = TestPurchase.newTransactionID()
            let ana = try await relay.pursue(try store.purchase(email: "ana@example.test", original: original))
            #expect(try await relay.outcome(ana)["status"].string == "granted")
            #expect(try await relay.detail(ana)["driver"].string == "receipt")
            let ben = try await relay.pursue(try await purchase("ben@example.test", original: original, control))
            #expect(try await relay.outcome(ben)["status"].string == "granted")
            _ = try await relay.becomes("transferred", ana)
            let carl = try await relay.pursue(try store.purchase(email: "carl@example.test", original: original))
            #expect(try await relay.outcome(carl)["status"].string == "granted")
            _ = try await relay.becomes("transferred", ben)
            #expect(try await control.payments().count == 2)
        }
    }

    @Test(arguments: [
        ("storekit2-unknown", "transaction_id_not_found"), ("storekit2-expired", "received_expired_purchase"),
    ]) func aResultWithoutAccessIsTheReason(tag: String, reason: String) async throws {
        try await run { relay, control in
            let id = try await relay.pursue(try await purchase("ana+\(tag)@example.test", control))
            let outcome = try await relay.outcome(id)
            #expect(outcome["status"].string == "rejected")
            #expect(outcome["reason"].string == reason)
        }
    }

    @Test(.whole) func aSlowSynchronizationTimesOutAndIsGrantedLate() async throws {
        try await run(["RELAY_VALIDATION_TIMEOUT_SECONDS": "1.5"]) { relay, control in
            let id = try await relay.pursue(try await purchase("ana+after-4+storekit2-retrying@example.test", control))
            #expect(try await relay.outcome(id)["status"].string == "timed_out")
            let late = try await relay.becomes("granted", id)
            #expect(late["late"].bool == true)
            let details = try await relay.timeline(id, "synchronization_read").compactMap { $0["detail"].string }
            #expect(details.contains("retrying"))
        }
    }

    @Test func anInactiveStoreKit2RejectsNoPurchase() async throws {
        try await run { relay, control in
            try await control.trouble("storekit2-inactive")
            let id = try await relay.pursue(try await purchase("ana@example.test", control))
            try await Awaiting.fact("ops sees the fault", is: "misconfigured") {
                try await relay.ops("/ops/summary").json["upstream"]["state"].string
            }
            #expect(try await relay.poll(id).json["status"].string == "pending")
            // The other route is open all the same.
            let ben = try await relay.pursue("ben@example.test")
            #expect(try await relay.outcome(ben)["status"].string == "granted")
            try await control.heal()
            #expect(try await relay.outcome(id)["status"].string == "granted")
        }
    }

    /// First the answer to the registration is lost, although Cleeng accepted it. While that one runs, the next one is
    /// answered 409.
    @Test func aLostAnswerIsRecoveredByRegisteringAgain() async throws {
        try await run(grantAfter: 1.5) { relay, control in
            let id = try await relay.pursue(try await purchase("ana+lost-answer-1@example.test", control))
            #expect(try await relay.outcome(id)["status"].string == "granted")
            let registrations = try await control.storeKit2().filter { $0.path == "/storekit2/purchases" }
            #expect(registrations.count > 1)
            #expect(registrations.contains { $0.status == 409 })
            #expect(Set(registrations.compactMap { $0.correlation }).count == registrations.count)
            #expect(try await control.stats()["grants"].int == 1)
        }
    }

    @Test(.whole) func aTransferWaitsForAMigration() async throws {
        try await run { relay, control in
            let original = TestPurchase.newTransactionID()
            let ana = try await relay.pursue(try await purchase("ana@example.test", original: original, control))
            #expect(try await relay.outcome(ana)["status"].string == "granted")
            let email = "ben+storekit2-migrating@example.test"
            let ben = try await relay.pursue(try await purchase(email, original: original, control))
            try await Awaiting.fact("the transfer has been refused for now") {
                try await relay.timeline(ben, "forward_failed").count
            } holds: {
                $0 > 0
            }
            #expect(try await relay.poll(ben).json["status"].string == "pending")
            try await control.behave(email, [])
            #expect(try await relay.outcome(ben)["status"].string == "granted")
        }
    }

    @Test func cleengsEventEndsTheWait() async throws {
        let secret = "a-shared-secret-of-the-tests"
        let settings = ["RELAY_CLEENG_WEBHOOK_SECRET": secret, "RELAY_POLL_INTERVAL_SECONDS": "15"]
        try await run(settings, grantAfter: 1) { relay, control in
            try await control.tell(relay, secret: secret)
            let original = TestPurchase.newTransactionID()
            let ana = try await relay.pursue(try await purchase("ana@example.test", original: original, control))
            #expect(try await relay.outcome(ana)["status"].string == "granted")
            let ben = try await relay.pursue(try await purchase("ben@example.test", original: original, control))
            #expect(try await relay.outcome(ben)["status"].string == "granted")
            #expect(try await relay.events(ben).contains("cleeng_event"))
            #expect(try await control.stats()["transferRequests"].int == 1)
        }
    }

    @Test(.whole) func anotherWorkerReplacesOneThatDies() async throws {
        try await run(grantAfter: 3) { relay, control in
            let id = try await relay.pursue(try await purchase("ana@example.test", control))
            try await Awaiting.fact("it is registered") {
                try await control.stats()["registrations"].int ?? 0
            } holds: {
                $0 > 0
            }
            relay.process.signal(SIGKILL)
            let other = try await Relay.start(
                database: relay.database, simulator: control.simulator, keys: relay.keys,
                settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"])
            #expect(try await other.outcome(id)["status"].string == "granted")
            #expect(try await control.stats()["grants"].int == 1)
            await other.process.end()
        }
    }

    @Test func theDriverIsAsConfigured() async throws {
        try await run(["RELAY_CLEENG_DRIVER": "storekit2"]) { relay, control in
            let without = try await relay.purchase(TestPurchase(email: "ana@example.test"))
            #expect(without.status == 422)
            #expect(without.json["errors"][0]["field"].string == "cleengCustomerId")
            #expect(without.json["errors"][0]["code"].string == "required")
            // An app receipt is registered by the number that the app names.
            var receipt = try await purchase("ben@example.test", control)
            receipt.receipt = "bm90IGEgcmVjZWlwdA=="
            receipt.extra["couponCode"] = "SUMMER"
            let answer = try await relay.purchase(receipt)
            #expect(answer.status == 202)
            #expect(answer.json["warnings"][0]["field"].string == "couponCode")
            let id = try #require(answer.json["validationId"].string)
            #expect(try await relay.outcome(id)["status"].string == "granted")
            let registration = try #require(try await control.storeKit2().first)
            #expect(registration.body["transactionId"].string == receipt.transactionID)
        }
        try await run(["RELAY_CLEENG_DRIVER": "receipt"]) { relay, control in
            let id = try await relay.pursue(try await purchase("ana@example.test", control))
            #expect(try await relay.outcome(id)["status"].string == "granted")
            #expect(try await control.storeKit2().isEmpty)
            let payment = try #require(try await control.payments().first)
            #expect(payment.body["cleengCustomerId"].isNull)
        }
    }

    @Test(.whole) func anOperatorRetriesByTheSameRoute() async throws {
        try await run { relay, control in
            let email = "ana+storekit2-unknown@example.test"
            let id = try await relay.pursue(try await purchase(email, control))
            #expect(try await relay.outcome(id)["status"].string == "rejected")
            try await control.behave(email, [])
            let answer = try await HTTP.post(
                relay.opsURL + "/ops/validations/\(id)/retry",
                headers: ["Authorization": "Bearer \(relay.keys.operator)"], body: Data(#"{"reason":"mended"}"#.utf8))
            #expect(answer.status < 300, "\(answer.text)")
            _ = try await relay.becomes("granted", id)
            #expect(try await control.payments().isEmpty)
        }
    }
}
