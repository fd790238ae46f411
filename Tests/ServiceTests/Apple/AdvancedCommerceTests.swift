import AppStoreSimulation
import Foundation
import Testing

/// A publisher sells several SKUs together, under one generic product of the App Store.
@Suite struct AdvancedCommerceTests {
    private static let offers = [("S123456789_US", "com.example.sports"), ("S987654321_US", "com.example.kids")]

    @Test func eachItemOpensItsOfferAndARefundOfOneEndsThatOne() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(offers: Self.offers, settings: store.settings(relayingTo: nil)) { setup in
            let (relay, key) = (setup.relay, try await Relay.makeKey("publisher", setup.database))
            let number = TestPurchase.newTransactionID()
            var bought = SimulatedTransaction(
                bundleId: "com.example.app", productId: "com.example.generic", transactionId: number,
                webOrderLineItemId: "7" + number, purchaseDate: Date() - 60, expiresDate: Date() + 2_592_000)
            bought.advancedCommerceInfo = SimulatedCommerceInfo(Self.offers.map(\.1))
            var ids: [String] = []
            for (offer, product) in Self.offers {
                var purchase = TestPurchase(email: "ana@example.test", original: number)
                purchase.offer = offer
                purchase.receipt = try store.transactions.sign(json: bought.json(signedDate: Date() - 50))
                let id = try await relay.pursue(purchase)
                _ = try await relay.becomes("granted", id)
                #expect(try await relay.detail(id)["productId"].string == product)
                ids.append(id)
                let purchases = try await relay.purchases("ana@example.test", key: key)
                #expect(Set(purchases.keys) == Set(Self.offers.map { "apple:\($0.1)" }))
            }
            bought.advancedCommerceInfo?.items[1].revocationDate = Date()
            let refund = SimulatedNotification(
                notificationType: "REFUND", notificationUUID: UUID().uuidString, bundleId: bought.bundleId,
                transaction: bought, signedDate: Date())
            #expect(try await relay.notify(refund, signedBy: store).status == 200)
            let ended = try await relay.becomes("revoked", ids[1])
            #expect(ended["reason"].string == "refunded" && ended["accessGranted"].bool == false)
            #expect(try await relay.poll(ids[0]).json["status"].string == "granted")
        }
    }
}
