import AppStoreSimulation
import Foundation
import Testing

/// What an app names and its genuine receipt does not hold: somebody else's, a pass that has vanished, nothing at all.
@Suite struct NotInTheReceiptTests {
    private func run(_ body: (Setup, TestAppStore) async throws -> Void) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings("enforce")) { try await body($0, store) }
    }

    private func empty(_ store: TestAppStore, of email: String, _ id: String) throws -> TestPurchase {
        var purchase = TestPurchase(email: email, original: id)
        let receipt = SimulatedReceipt(
            environment: "ProductionSandbox", bundleId: "com.example.app", creationDate: Date(), purchases: [])
        purchase.receipt = Data(try store.receipts.sign(receipt)).base64EncodedString()
        return purchase
    }

    /// Ben, on Ana's device, names a pass of another offer beside the receipt with her subscription.
    @Test func itTakesNobodysSubscription() async throws {
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

    /// Passes vanish from receipts. What Apple tells of them later reaches what was granted.
    @Test func aReceiptWithoutPurchasesIsTakenAndARefundReachesIt() async throws {
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
