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
    public var webOrderLineItemId: TransactionID?
    public var isTrialPeriod: Bool?
    public var isInIntroductoryOfferPeriod: Bool?
    public var promotionalOfferId: String?

    /// As a signed transaction names it.
    public enum Kind: String, Sendable, Hashable {
        case autoRenewableSubscription = "Auto-Renewable Subscription"
        case nonRenewingSubscription = "Non-Renewing Subscription"
        case consumable = "Consumable"
        case nonConsumable = "Non-Consumable"
    }

    /// A subscription, a pass, or a purchase for ever. Where the store did not say what it is, and when it ends, it may be used up.
    var isLasting: Bool { expiresDate != nil || kind == .nonRenewingSubscription || kind == .nonConsumable }

    /// A subscription that has not been cancelled; it may have run out.
    var isUncancelledSubscription: Bool { expiresDate != nil && !isCancelled }
}

extension PurchaseEntry {
    /// Whether this entry says more about what the customer has than the other: an uncancelled subscription before
    /// all else, of two such the one that runs longer, of all others the newer purchase.
    ///
    /// Ties are broken down to the ids, so that the order of a receipt's entries, which means nothing, decides nothing.
    func counts(before other: PurchaseEntry) -> Bool {
        if isUncancelledSubscription != other.isUncancelledSubscription { return isUncancelledSubscription }
        if isUncancelledSubscription, expiresDate != other.expiresDate {
            return Self.isLater(expiresDate, other.expiresDate)
        }
        if purchaseDate != other.purchaseDate { return Self.isLater(purchaseDate, other.purchaseDate) }
        if expiresDate != other.expiresDate { return Self.isLater(expiresDate, other.expiresDate) }
        if isCancelled != other.isCancelled { return isCancelled }
        if cancellationDate != other.cancellationDate { return Self.isLater(cancellationDate, other.cancellationDate) }
        if transactionId != other.transactionId {
            return (other.transactionId ?? "").isLower(than: transactionId ?? "")
        }
        if originalTransactionId != other.originalTransactionId {
            return (other.originalTransactionId ?? "").isLower(than: originalTransactionId ?? "")
        }
        return productId ?? "" > other.productId ?? ""
    }

    private static func isLater(_ left: AppleTimestamp?, _ right: AppleTimestamp?) -> Bool {
        guard let left else { return false }
        guard let right else { return true }
        return left > right
    }
}

/// Decoding from an app receipt. ``AppReceipt`` names sources and how missing values are read.
extension PurchaseEntry {
    /// Reads the value of attribute 17: a SET of attributes again.
    init(_ octets: BEROctets) throws(BERError) {
        let document = octets.document
        var cursor = try document.only(octets.root, BERTag.set).children
        var count = 0
        var type: Int64?
        while let element = try document.next(&cursor) {
            count += 1
            guard count <= ReceiptLimits.purchaseAttributes else { throw .limitExceeded }
            if let attribute = try ReceiptAttribute(document, element) { read(attribute, &type) }
        }
        originalTransactionId = Self.usable(originalTransactionId)
        transactionId = Self.usable(transactionId)
        webOrderLineItemId = Self.usable(webOrderLineItemId)
        kind =
            switch type {
            case 0: .nonConsumable
            case 1: .consumable
            case 2: .nonRenewingSubscription
            // The second is a free subscription, last seen in 2015.
            case 3, 4: .autoRenewableSubscription
            default: kindByItsEnd
            }
    }

    /// - Parameter type: attribute 1707, observed, not documented.
    private mutating func read(_ attribute: ReceiptAttribute, _ type: inout Int64?) {
        switch attribute.type {
        case 1702: productId = productId ?? ProductID(attribute.text)
        // `0` in Xcode receipts.
        case 1703: transactionId = transactionId ?? TransactionID(attribute.identifier)
        case 1704: purchaseDate = purchaseDate ?? attribute.date
        // Missing in Xcode receipts.
        case 1705: originalTransactionId = originalTransactionId ?? TransactionID(attribute.identifier)
        case 1706: originalPurchaseDate = originalPurchaseDate ?? attribute.date
        case 1707: type = type ?? attribute.integer
        case 1708: expiresDate = expiresDate ?? attribute.date
        // 0 for what is no subscription.
        case 1711: webOrderLineItemId = webOrderLineItemId ?? attribute.integer.map { TransactionID(String($0)) }
        // Refunded, revoked, or replaced by an upgrade. Such a purchase is not a live one, even if its date cannot be read.
        case 1712:
            cancellationDate = cancellationDate ?? attribute.date
            isCancelled = isCancelled || attribute.isPresent
        case 1713: isTrialPeriod = isTrialPeriod ?? attribute.integer.map { $0 != 0 }
        case 1719: isInIntroductoryOfferPeriod = isInIntroductoryOfferPeriod ?? attribute.integer.map { $0 != 0 }
        case 1721: promotionalOfferId = promotionalOfferId ?? attribute.text
        default: break
        }
    }

    /// Transaction and Xcode receipts have no type; that it runs out tells one kind.
    private var kindByItsEnd: Kind? { expiresDate == nil ? nil : .autoRenewableSubscription }
}

extension PurchaseEntry {
    /// - Parameter information: a transaction receipt's.
    init(_ information: PropertyListDictionary) {
        originalTransactionId = Self.usable(TransactionID(information.identifier("original-transaction-id")))
        transactionId = Self.usable(TransactionID(information.identifier("transaction-id")))
        productId = ProductID(information.text("product-id"))
        purchaseDate = information.date("purchase-date-ms", "purchase-date")
        originalPurchaseDate = information.date("original-purchase-date-ms", "original-purchase-date")
        expiresDate = information.date("expires-date", "expires-date-formatted")
        kind = kindByItsEnd
        cancellationDate = information.date("cancellation-date-ms", "cancellation-date")
        isCancelled = information.isPresent("cancellation-date-ms") || information.isPresent("cancellation-date")
        webOrderLineItemId = Self.usable(TransactionID(information.identifier("web-order-line-item-id")))
        isTrialPeriod = information.bool("is-trial-period")
        isInIntroductoryOfferPeriod = information.bool("is-in-intro-offer-period")
    }

    init(_ payload: TransactionPayload) {
        originalTransactionId = Self.usable(payload.originalTransactionId)
        transactionId = Self.usable(payload.transactionId)
        productId = payload.productId
        kind = payload.type
        purchaseDate = payload.purchaseDate
        originalPurchaseDate = payload.originalPurchaseDate
        expiresDate = payload.expiresDate
        cancellationDate = payload.revocationDate
        isCancelled = payload.isRevoked
        webOrderLineItemId = Self.usable(payload.webOrderLineItemId)
        isTrialPeriod = payload.offerDiscountType.map { $0 == TransactionPayload.freeTrial }
        isInIntroductoryOfferPeriod = payload.offerType.map { $0 == TransactionPayload.introductoryOffer }
        promotionalOfferId = payload.offerType == 2 ? payload.offerIdentifier : nil
    }

    private static func usable(_ identifier: TransactionID?) -> TransactionID? { identifier == "0" ? nil : identifier }
}
