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
            return Self.isGreater(transactionId ?? "", other.transactionId ?? "")
        }
        if originalTransactionId != other.originalTransactionId {
            return Self.isGreater(originalTransactionId ?? "", other.originalTransactionId ?? "")
        }
        return productId ?? "" > other.productId ?? ""
    }

    private static func isLater(_ left: AppleTimestamp?, _ right: AppleTimestamp?) -> Bool {
        guard let left else { return false }
        guard let right else { return true }
        return left > right
    }

    /// Numbers written as text, of any length.
    private static func isGreater(_ left: TransactionID, _ right: TransactionID) -> Bool {
        let (leftLength, rightLength) = (left.utf8.count, right.utf8.count)
        return leftLength == rightLength ? left > right : leftLength > rightLength
    }
}

extension PurchaseEntry {
    init(_ purchase: InAppPurchase) {
        originalTransactionId = Self.usable(purchase.originalTransactionId)
        transactionId = Self.usable(purchase.transactionId)
        productId = purchase.productId
        kind = Self.kind(purchase.productType?.known, expires: purchase.expiresDate)
        purchaseDate = purchase.purchaseDate
        originalPurchaseDate = purchase.originalPurchaseDate
        expiresDate = purchase.expiresDate
        cancellationDate = purchase.cancellationDate
        isCancelled = purchase.isCancelled
        quantity = purchase.quantity
        webOrderLineItemId = purchase.webOrderLineItemId.flatMap { $0 == 0 ? nil : TransactionID(String($0)) }
        isTrialPeriod = purchase.isTrialPeriod
        isInIntroductoryOfferPeriod = purchase.isInIntroductoryOfferPeriod
        promotionalOfferId = purchase.promotionalOfferId
    }

    init(_ receipt: TransactionReceipt) {
        originalTransactionId = Self.usable(receipt.originalTransactionId)
        transactionId = Self.usable(receipt.transactionId)
        productId = receipt.productId
        kind = Self.kind(nil, expires: receipt.expiresDate)
        purchaseDate = receipt.purchaseDate
        originalPurchaseDate = receipt.originalPurchaseDate
        expiresDate = receipt.expiresDate
        cancellationDate = receipt.cancellationDate
        isCancelled = receipt.isCancelled
        quantity = receipt.quantity
        webOrderLineItemId = Self.usable(receipt.webOrderLineItemId)
        isTrialPeriod = receipt.isTrialPeriod
        isInIntroductoryOfferPeriod = receipt.isInIntroductoryOfferPeriod
    }

    init(_ payload: TransactionPayload) {
        originalTransactionId = Self.usable(payload.originalTransactionId)
        transactionId = Self.usable(payload.transactionId)
        productId = payload.productId
        kind = payload.type?.known.map(Self.kind)
        purchaseDate = payload.purchaseDate
        originalPurchaseDate = payload.originalPurchaseDate
        expiresDate = payload.expiresDate
        cancellationDate = payload.revocationDate
        isCancelled = payload.isRevoked
        quantity = payload.quantity
        webOrderLineItemId = Self.usable(payload.webOrderLineItemId)
        isTrialPeriod = payload.offerDiscountType.map { $0.known == .freeTrial }
        isInIntroductoryOfferPeriod = payload.offerType.map { $0.known == .introductory }
        promotionalOfferId = payload.offerType?.known == .promotional ? payload.offerIdentifier : nil
    }

    private static func usable(_ identifier: TransactionID?) -> TransactionID? { identifier == "0" ? nil : identifier }

    private static func kind(_ type: InAppProductType?, expires: AppleTimestamp?) -> Kind? {
        switch type {
        case .autoRenewableSubscription, .freeSubscription: .autoRenewableSubscription
        case .nonRenewingSubscription: .nonRenewingSubscription
        case .consumable: .consumable
        case .nonConsumable: .nonConsumable
        // Transaction and Xcode receipts have no type; that it runs out tells one kind.
        case nil: expires == nil ? nil : .autoRenewableSubscription
        }
    }

    private static func kind(_ type: TransactionPayload.ProductType) -> Kind {
        switch type {
        case .autoRenewableSubscription: .autoRenewableSubscription
        case .nonRenewingSubscription: .nonRenewingSubscription
        case .consumable: .consumable
        case .nonConsumable: .nonConsumable
        }
    }
}
