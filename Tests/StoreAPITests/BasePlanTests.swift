import StoreAPI
import Testing

@testable import RelayCore

/// Google sells a product in several base plans, and the catalogue may have an offer for each.
@Suite("A base plan of a product")
struct BasePlanTests {
    private static let name = SubscriptionName(
        publisher: "main", environment: "Production", originalTransactionID: "google:t")
    private static let asked = Timestamp(seconds: 1_700_000_000)

    private func answer(_ plan: String?, order: TransactionID, day: Int64) throws -> LedgerStatement {
        let moment = Self.asked + .seconds(day * 86_400)
        var item = StoreSubscription.Item(productID: "gold")
        (item.orderID, item.planID, item.autoRenews) = (order, plan, true)
        item.expiresAt = moment + .seconds(30 * 86_400)
        var one = StoreSubscription(
            .google, .subscription, key: "t", items: [item], state: .active, isTest: false, readAt: moment)
        one.firstPurchasedAt = Self.asked
        return try #require(one.ledgerStatement)
    }

    private func present(
        _ statements: [LedgerStatement], _ catalogue: [ProductID: [OfferID]], day: Int64
    ) -> OfferID? {
        var ledger = SubscriptionLedger()
        for one in statements { ledger.apply(one) }
        #expect(ledger.products.isSuperset(of: ["gold"]))
        ledger.setOffers(catalogue.filter { ledger.products.contains($0.key) })
        return SubscriptionAccess(
            ledger, granted: ["S1"], at: Self.asked + .seconds(day * 86_400), leeway: .seconds(3_600)
        ).present
    }

    @Test("has its own offer before the product's, also after a change of plan under the same token")
    func offers() throws {
        let monthly = try answer("monthly", order: "1", day: 0)
        let yearly = try answer("yearly", order: "2", day: 10)
        let plans: [ProductID: [OfferID]] = ["gold:monthly": ["S1"], "gold:yearly": ["S2"], "gold": ["S3"]]
        #expect(present([monthly], plans, day: 1) == "S1")
        #expect(present([monthly, yearly], plans, day: 11) == "S2")
        #expect(present([try answer("weekly", order: "1", day: 0)], plans, day: 1) == "S3")
        #expect(present([try answer(nil, order: "1", day: 0)], plans, day: 1) == "S3")
        #expect(present([monthly], ["gold": ["S3"]], day: 1) == "S3")
        #expect(present([yearly], ["gold:monthly": ["S1"]], day: 11) == nil)
    }
}
