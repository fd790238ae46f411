import RelayCore
import StoreAPI
import Testing

@Suite struct SubscriptionTests {
    private let now = Timestamp(seconds: 1_790_000_000)

    private func subscription(_ items: [(String, Timestamp?)]) -> StoreSubscription {
        StoreSubscription(
            .amazon, .subscription, key: "r",
            items: items.map { product, end in
                var item = StoreSubscription.Item(productID: ProductID(product))
                item.expiresAt = end
                return item
            }, state: .active, isTest: false, readAt: now)
    }

    @Test func theLongestRunningProductCountsForThePurchase() {
        let (early, late) = (now, now + .seconds(1))
        #expect(subscription([("a", early), ("b", late)]).productID == "b")
        #expect(subscription([("a", late), ("b", early)]).productID == "a")
        #expect(subscription([("a", late), ("b", late)]).productID == "a")
        #expect(subscription([("a", late), ("b", nil), ("c", late)]).productID == "b")
        #expect(subscription([]).productID.isEmpty)
    }

    /// The reasons in Fovea's own list; its strictest clients fail on any other.
    @Test func everyReasonIsOneOfFoveas() {
        let known: Set = [
            "Developer", "System", "System.Replaced", "System.ProductUnavailable", "System.BillingError",
            "System.Deleted", "Customer", "Customer.TechnicalIssues", "Customer.PriceIncrease", "Customer.Cost",
            "Customer.FoundBetterApp", "Customer.NotUsefulEnough", "Customer.OtherReason", "Unknown",
        ]
        for reason in CancelationReason.allCases { #expect(known.contains(reason.rawValue)) }
    }

    @Test func aPurchaseThatReplacesItselfDoesNotMove() {
        var purchase = subscription([("a", now + .seconds(1))])
        purchase.previousKey = "r"
        #expect(purchase.ledgerStatement?.movesFrom == [])
        purchase.previousKey = "q"
        #expect(purchase.ledgerStatement?.movesFrom == ["amazon:q"])
        purchase.kind = .consumable
        #expect(purchase.ledgerStatement == nil)
    }

    /// A pass is consumed after its grant. Its refund ends the access all the same.
    @Test func theRefundOfAConsumableIsStated() {
        var purchase = subscription([("pass", nil)])
        (purchase.kind, purchase.state) = (.consumable, .revoked)
        #expect(purchase.ledgerStatement?.periods.first?.revocation?.kind == .refunded)
    }
}
