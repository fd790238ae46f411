public import RelayCore

/// One purchase, in the terms that all three formats share.
public struct PurchaseEntry: Sendable, Hashable {
    /// The key of the subscription, the same through all renewals.
    ///
    /// Nil where the purchase names none that tells it from others: Xcode's receipts have no original transaction id,
    /// and Xcode's transactions have `0`. The transaction id that the app sent beside the receipt must then do.
    public var originalTransactionId: TransactionID?
    /// Nil where missing or `0` (Xcode).
    public var transactionId: TransactionID?
    public var productId: ProductID?
    public var kind: Kind?
    public var purchaseDate: AppleTimestamp?
    public var originalPurchaseDate: AppleTimestamp?
    /// Only subscriptions that renew have one.
    public var expiresDate: AppleTimestamp?
    /// When it was refunded, revoked or (app receipts) replaced by an upgrade.
    public var cancellationDate: AppleTimestamp?
    /// True also where the date of the cancellation cannot be read.
    public var isCancelled = false
    public var quantity: Int64?
    public var webOrderLineItemId: TransactionID?
    public var isTrialPeriod: Bool?
    public var isInIntroductoryOfferPeriod: Bool?
    public var promotionalOfferId: String?

    public enum Kind: String, Sendable, Hashable {
        case autoRenewableSubscription, nonRenewingSubscription, consumable, nonConsumable
    }

    /// A subscription, a pass, or a purchase for ever. Where the store did not say what it is, and when it ends, it may be used up.
    var isLasting: Bool { expiresDate != nil || kind == .nonRenewingSubscription || kind == .nonConsumable }

    /// A subscription that has not been cancelled; it may have run out.
    var isUncancelledSubscription: Bool { expiresDate != nil && !isCancelled }
}
