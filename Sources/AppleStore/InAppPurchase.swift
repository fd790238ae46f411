public import RelayCore

/// One purchase in an app receipt. Same sources, and same reading of what is missing, as ``AppReceipt``.
public struct InAppPurchase: Sendable, Hashable {
    /// Attribute 1701.
    public var quantity: Int64?
    /// Attribute 1702.
    public var productId: ProductID?
    /// Attribute 1703; `0` in Xcode receipts.
    public var transactionId: TransactionID?
    /// Attribute 1704.
    public var purchaseDate: AppleTimestamp?
    /// Attribute 1705, the same through all renewals; missing in Xcode receipts.
    public var originalTransactionId: TransactionID?
    /// Attribute 1706.
    public var originalPurchaseDate: AppleTimestamp?
    /// Attribute 1707, observed, not documented.
    public var productType: OpenValue<InAppProductType>?
    /// Attribute 1708: only subscriptions that renew have one.
    public var expiresDate: AppleTimestamp?
    /// Attribute 1711; 0 for what is no subscription.
    public var webOrderLineItemId: Int64?
    /// Attribute 1712: refunded, revoked, or replaced by an upgrade.
    public var cancellationDate: AppleTimestamp?
    /// Whether attribute 1712 says anything, a date that cannot be read included: such a purchase is not a live one.
    public var isCancelled = false
    /// Attribute 1713.
    public var isTrialPeriod: Bool?
    /// Attribute 1719.
    public var isInIntroductoryOfferPeriod: Bool?
    /// Attribute 1721.
    public var promotionalOfferId: String?
}
