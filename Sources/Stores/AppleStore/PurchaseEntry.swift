public import RelayCore

/// One purchase, reduced to the fields that all three formats share.
public struct PurchaseEntry: Sendable, Hashable {
    /// Key of the subscription, the same through all renewals.
    ///
    /// Nil if the purchase has no unique one: Xcode's receipts have no original transaction id, and Xcode's
    /// transactions have `0`. The transaction id that the app sent beside the receipt is then the key.
    public var originalTransactionId: TransactionID?
    /// Nil if missing or `0` (Xcode).
    public var transactionId: TransactionID?
    public var productId: ProductID?
    public var kind: Kind?
    public var purchaseDate: AppleTimestamp?
    public var originalPurchaseDate: AppleTimestamp?
    /// Only for subscriptions that renew.
    public var expiresDate: AppleTimestamp?
    /// When it was refunded, revoked or (app receipts) replaced by an upgrade.
    public var cancellationDate: AppleTimestamp?
    /// True even if the cancellation date cannot be read.
    public var isCancelled = false
    public var webOrderLineItemId: TransactionID?
    public var isTrialPeriod: Bool?
    public var isInIntroductoryOfferPeriod: Bool?
    public var promotionalOfferId: String?

    /// Product type, as signed transactions name it.
    public enum Kind: String, Sendable, Hashable {
        case autoRenewableSubscription = "Auto-Renewable Subscription"
        case nonRenewingSubscription = "Non-Renewing Subscription"
        case consumable = "Consumable"
        case nonConsumable = "Non-Consumable"
    }

    /// A subscription, a pass, or a permanent purchase. Without a type and an end date, it may be a consumable.
    var isLasting: Bool { expiresDate != nil || kind == .nonRenewingSubscription || kind == .nonConsumable }

    /// A subscription that has not been cancelled; it may have expired.
    var isUncancelledSubscription: Bool { expiresDate != nil && !isCancelled }
}

extension PurchaseEntry {
    /// Whether this entry says more about the customer's access than the other one. Uncancelled subscriptions come
    /// first, by their end, latest first. All others follow, newest first.
    ///
    /// The ids break ties, so that the meaningless order of a receipt's entries decides nothing.
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

/// Decoding from an app receipt. ``AppReceipt`` gives the sources, and how missing values are read.
extension PurchaseEntry {
    /// Reads the value of attribute 17, which is itself a SET of attributes.
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
            // Type 4 is a free subscription, last seen in 2015.
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
        // 0 if the purchase is not a subscription.
        case 1711: webOrderLineItemId = webOrderLineItemId ?? attribute.integer.map { TransactionID(String($0)) }
        // Refunded, revoked, or replaced by an upgrade. The purchase counts as cancelled even if the date is
        // unreadable.
        case 1712:
            cancellationDate = cancellationDate ?? attribute.date
            isCancelled = isCancelled || attribute.isPresent
        case 1713: isTrialPeriod = isTrialPeriod ?? attribute.integer.map { $0 != 0 }
        case 1719: isInIntroductoryOfferPeriod = isInIntroductoryOfferPeriod ?? attribute.integer.map { $0 != 0 }
        case 1721: promotionalOfferId = promotionalOfferId ?? attribute.text
        default: break
        }
    }

    /// Transaction and Xcode receipts have no type. An expiry date identifies a renewing subscription.
    private var kindByItsEnd: Kind? { expiresDate == nil ? nil : .autoRenewableSubscription }
}

extension PurchaseEntry {
    /// - Parameter information: the property list of a transaction receipt.
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
        productId = payload.items.first?.sku ?? payload.productId
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
