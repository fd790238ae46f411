import AppStoreSimulation
import Foundation
import TestRun
import Testing

/// An app names a transaction that its genuine receipt does not contain: another customer's, a pass that has vanished,
/// or none that exists.
@Suite struct NotInTheReceiptTests {
    private func run(_ body: (Setup, TestAppStore) async throws -> Void) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings(relayingTo: nil)) { try await body($0, store) }
    }

    private func empty(_ store: TestAppStore, of email: String, _ id: String) throws -> TestPurchase {
        var purchase = TestPurchase(email: email, original: id)
        let receipt = SimulatedReceipt(
            environment: "ProductionSandbox", bundleId: "com.example.app", creationDate: Date(), purchases: [])
        purchase.receipt = Data(try store.receipts.sign(receipt)).base64EncodedString()
        return purchase
    }

    /// A purchase without an end, granted to Ana.
    private func granted(
        _ type: String, _ setup: Setup, _ store: TestAppStore, ownership: String = "PURCHASED"
    ) async throws -> (id: String, transaction: SimulatedTransaction) {
        let number = TestPurchase.newTransactionID()
        var bought = SimulatedTransaction(
            bundleId: "com.example.app", productId: "com.example.app.day", transactionId: number,
            purchaseDate: Date() - 60, expiresDate: nil)
        (bought.type, bought.inAppOwnershipType) = (type, ownership)
        var purchase = TestPurchase(email: "ana@example.test", original: number)
        purchase.receipt = try store.transactions.sign(json: bought.json(signedDate: Date() - 50))
        let id = try await setup.relay.pursue(purchase)
        _ = try await setup.relay.becomes("granted", id)
        return (id, bought)
    }

    /// A version 1 notification of a revocation.
    private func statusUpdate(_ type: String, of taken: SimulatedTransaction) throws -> Data {
        try SimulatedStatusUpdate(
            notificationType: type, password: TestAppStore.secret, bundleId: taken.bundleId,
            autoRenewProductId: taken.productId, originalTransactionId: taken.originalTransactionId,
            transactions: [taken], renewals: []
        ).json()
    }

    private func refund(of taken: SimulatedTransaction) -> SimulatedNotification {
        SimulatedNotification(
            notificationType: "REFUND", notificationUUID: UUID().uuidString, bundleId: taken.bundleId,
            transaction: taken, signedDate: Date())
    }

    /// Ben, on Ana's device, names a pass of another offer with the receipt of her subscription.
    @Test func itTakesNoOtherCustomersSubscription() async throws {
        try await run { setup, store in
            let hers = try store.receiptPurchase(email: "ana@example.test")
            let ana = try await setup.relay.pursue(hers)
            _ = try await setup.relay.becomes("granted", ana)
            var his = hers
            (his.email, his.offer, his.transactionID) = (
                "ben@example.test", "S987654321_US", TestPurchase.newTransactionID()
            )
            let ben = try await setup.relay.pursue(his)
            _ = try await setup.relay.becomes("granted", ben)
            #expect(try await setup.relay.poll(ana).json["status"].string == "granted")
            let owned = try await setup.relay.ops("/ops/subscriptions?originalTransactionId=\(hers.transactionID)").json
            #expect(owned["items"][0]["customerEmail"].string == "ana@example.test", "\(owned)")
            #expect(try await setup.relay.detail(ben)["transfer"].isNull)
        }
    }

    /// Ben names Ana's subscription with a genuine receipt of his own that contains no purchase, before her or after.
    @Test(arguments: [true, false]) func anEmptyReceiptTakesNobodysSubscription(isFirst: Bool) async throws {
        try await run { setup, store in
            let hers = try store.receiptPurchase(email: "ana@example.test")
            let his = try empty(store, of: "ben@example.test", hers.transactionID)
            var ids: [String: String] = [:]
            for purchase in isFirst ? [his, hers] : [hers, his] {
                let id = try await setup.relay.pursue(purchase)
                _ = try await setup.relay.becomes("granted", id)
                ids[purchase.email] = id
            }
            let (ana, ben) = (try #require(ids[hers.email]), try #require(ids[his.email]))
            #expect(try await setup.relay.poll(ana).json["status"].string == "granted")
            #expect(try await setup.relay.poll(ben).json["status"].string == "granted")
            #expect(try await setup.relay.detail(ana)["environment"].string == "Sandbox")
            #expect(try await setup.relay.detail(ben)["environment"].string == "unknown")
            // The store states a subscription that nobody owns yet. Cia's empty receipt does not make her its owner.
            var other = try store.subscription()
            #expect(try await setup.relay.notify(other.bought(at: Date()), signedBy: store).status == 200)
            let cia = try await setup.relay.pursue(
                try empty(store, of: "cia@example.test", other.originalTransactionId))
            _ = try await setup.relay.becomes("granted", cia)
            #expect(try await setup.relay.detail(cia)["environment"].string == "unknown")
        }
    }

    /// Guards against a pass that is bound to the subscription in the same receipt: a refund of Ana's subscription
    /// would end the pass, Ben's or her own.
    @Test(arguments: ["ben@example.test", "ana@example.test"])
    func aRefundOfTheReceiptsSubscriptionDoesNotEndThePass(email: String) async throws {
        try await run { setup, store in
            let hers = try store.receiptPurchase(email: "ana@example.test")
            let ana = try await setup.relay.pursue(hers)
            _ = try await setup.relay.becomes("granted", ana)
            var beside = hers
            (beside.email, beside.offer, beside.transactionID) = (
                email, "S987654321_US", TestPurchase.newTransactionID()
            )
            let other = try await setup.relay.pursue(beside)
            _ = try await setup.relay.becomes("granted", other)
            var renewable = SimulatedTransaction(
                bundleId: "com.example.app", productId: "com.example.month", transactionId: hers.transactionID,
                purchaseDate: Date() - 60, expiresDate: Date() + 2_592_000)
            (renewable.revocationDate, renewable.revocationReason) = (Date(), 0)
            #expect(try await setup.relay.notify(refund(of: renewable), signedBy: store).status == 200)
            #expect(try await setup.relay.becomes("revoked", ana)["reason"].string == "refunded")
            let pass = try await setup.relay.poll(other).json
            #expect(pass["status"].string == "granted" && pass["accessGranted"].bool == true, "\(pass)")
        }
    }

    /// Guards against refunds that are recorded without effect: a purchase without renewal has no period that ends, and
    /// version 1 does not state its type.
    @Test(arguments: ["Consumable", "Non-Renewing Subscription"], TestRun.all([2, 1], otherwise: 1))
    func aRefundOfANonRenewingPurchaseEndsItsAccess(type: String, version: Int) async throws {
        try await run { setup, store in
            var (id, bought) = try await granted(type, setup, store)
            (bought.revocationDate, bought.revocationReason) = (Date(), 0)
            let body =
                version == 2
                ? try store.transactions.sign(refund(of: bought)) : try statusUpdate("REFUND", of: bought)
            #expect(try await setup.relay.notify(body).status == 200)
            let ended = try await setup.relay.becomes("revoked", id)
            #expect(ended["reason"].string == "refunded" && ended["accessGranted"].bool == false)
        }
    }

    /// Guards against a version 1 `REVOKE` that has no effect or counts as a refund: the family no longer shares the
    /// purchase.
    @Test func theEndOfSharingByVersionOneEndsAccess() async throws {
        try await run { setup, store in
            var (id, shared) = try await granted("Non-Consumable", setup, store, ownership: "FAMILY_SHARED")
            shared.revocationDate = Date()
            #expect(try await setup.relay.notify(try statusUpdate("REVOKE", of: shared)).status == 200)
            let ended = try await setup.relay.becomes("revoked", id)
            #expect(ended["reason"].string == "family_revoked" && ended["accessGranted"].bool == false)
        }
    }

    /// Passes vanish from receipts. Apple's later notifications still apply to the granted pass.
    @Test func aReceiptWithoutPurchasesIsAcceptedAndCanBeRefunded() async throws {
        try await run { setup, store in
            var life = try store.subscription()
            life.bought(at: Date())
            let id = try await setup.relay.pursue(try empty(store, of: "ana@example.test", life.originalTransactionId))
            _ = try await setup.relay.becomes("granted", id)
            #expect(try await setup.relay.detail(id)["verification"]["result"].string == "genuine")
            #expect(try await setup.relay.notify(life.refunded(at: Date()), signedBy: store).status == 200)
            let ended = try await setup.relay.becomes("revoked", id)
            #expect(ended["reason"].string == "refunded" && ended["accessGranted"].bool == false)
        }
    }
}
