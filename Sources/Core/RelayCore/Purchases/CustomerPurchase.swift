/// A customer's newest purchase of one product, and its status (Fovea, "Purchase"). Ids are the store's own, without
/// prefix. Nil values do not apply, or were not stated.
public struct CustomerPurchase: Sendable, Hashable {
    public enum RenewalIntent: String, Sendable, Hashable {
        case renew = "Renew"
        case lapse = "Lapse"
    }

    public enum PriceConsent: String, Sendable, Hashable {
        case notified = "Notified"
        case agreed = "Agreed"
    }

    public var platform: StorePlatform
    public var productID: ProductID
    /// Id that stays the same through all renewals.
    public var purchaseID: TransactionID
    /// Transaction id of the newest renewal.
    public var transactionID: TransactionID
    public var isSandbox: Bool
    /// Time of the first purchase.
    public var purchasedAt: Timestamp?
    /// Time of the newest renewal's payment.
    public var renewedAt: Timestamp?
    public var expiresAt: Timestamp?
    public var isExpired: Bool
    public var renewalIntent: RenewalIntent?
    public var renewalIntentChangedAt: Timestamp?
    public var cancelationReason: CancelationReason?
    /// See ``LedgerPeriod/planID``. Publishers do not see it.
    public var planID: ProductID?
    public var isBillingRetry: Bool?
    public var isTrial: Bool?
    public var isIntro: Bool?
    public var discountID: DiscountID?
    public var priceConsent: PriceConsent?

    public init(
        platform: StorePlatform, productID: ProductID, purchaseID: TransactionID, transactionID: TransactionID,
        isSandbox: Bool,
        isExpired: Bool
    ) {
        self.platform = platform
        self.productID = productID
        self.purchaseID = purchaseID
        self.transactionID = transactionID
        self.isSandbox = isSandbox
        self.isExpired = isExpired
    }

    /// Returns the newest purchase of each product, sorted by product name.
    public static func newest(of purchases: some Sequence<CustomerPurchase>) -> [CustomerPurchase] {
        typealias Key = Identifier<CustomerPurchase>
        var byProduct: [Key: CustomerPurchase] = [:]
        for purchase in purchases {
            let key = Key(purchase.platform.prefixed(purchase.productID))
            if let other = byProduct[key], !other.isOlder(than: purchase) { continue }
            byProduct[key] = purchase
        }
        return byProduct.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Whether the other purchase was paid for later or, if both were paid at once, runs longer.
    private func isOlder(than other: CustomerPurchase) -> Bool {
        func rank(_ one: CustomerPurchase) -> (Timestamp, Timestamp, TransactionID) {
            (one.renewedAt ?? .earliest, one.expiresAt ?? .distantFuture, one.purchaseID)
        }
        return rank(self) < rank(other)
    }
}
