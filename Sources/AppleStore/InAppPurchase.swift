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

extension InAppPurchase {
    /// Reads the value of attribute 17: a SET of attributes again.
    init(_ octets: BEROctets) throws(BERError) {
        let document = octets.document
        var cursor = try document.only(octets.root, BERTag.set).children
        var count = 0
        while let element = try document.next(&cursor) {
            count += 1
            guard count <= ReceiptLimits.purchaseAttributes else { throw .limitExceeded }
            if let attribute = try ReceiptAttribute(document, element) { read(attribute) }
        }
    }

    private mutating func read(_ attribute: ReceiptAttribute) {
        switch attribute.type {
        case 1701: quantity = quantity ?? attribute.integer
        case 1702: productId = productId ?? ProductID(attribute.text)
        case 1703: transactionId = transactionId ?? TransactionID(attribute.identifier)
        case 1704: purchaseDate = purchaseDate ?? attribute.date
        case 1705: originalTransactionId = originalTransactionId ?? TransactionID(attribute.identifier)
        case 1706: originalPurchaseDate = originalPurchaseDate ?? attribute.date
        case 1707: productType = productType ?? attribute.integer.map(OpenValue.init(raw:))
        case 1708: expiresDate = expiresDate ?? attribute.date
        case 1711: webOrderLineItemId = webOrderLineItemId ?? attribute.integer
        case 1712:
            cancellationDate = cancellationDate ?? attribute.date
            isCancelled = isCancelled || attribute.isPresent
        case 1713: isTrialPeriod = isTrialPeriod ?? attribute.integer.map { $0 != 0 }
        case 1719: isInIntroductoryOfferPeriod = isInIntroductoryOfferPeriod ?? attribute.integer.map { $0 != 0 }
        case 1721: promotionalOfferId = promotionalOfferId ?? attribute.text
        default: break
        }
    }
}

/// Attribute 1707 of a purchase, as observed.
public enum InAppProductType: Int64, Sendable, Hashable {
    case nonConsumable = 0
    case consumable = 1
    case nonRenewingSubscription = 2
    case autoRenewableSubscription = 3
    /// A free subscription, last seen in 2015.
    case freeSubscription = 4
}
