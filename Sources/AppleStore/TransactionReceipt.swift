import Formats
public import RelayCore

/// The receipt of one transaction as iOS 6 made it (`SKPaymentTransaction.transactionReceipt`, deprecated since iOS 7):
/// a NeXTSTEP property list around a second one in base64.
public struct TransactionReceipt: Sendable, Hashable {
    /// Named by `environment` or, where that is missing, by the `pod` it came from: 100 is the sandbox's (observed).
    public var environment: AppleEnvironment
    /// `bid`
    public var bundleId: BundleID?
    /// `bvrs`
    public var applicationVersion: String?
    /// `product-id`
    public var productId: ProductID?
    /// `transaction-id`
    public var transactionId: TransactionID?
    /// `original-transaction-id`
    public var originalTransactionId: TransactionID?
    /// `quantity`
    public var quantity: Int64?
    /// `purchase-date-ms` or `purchase-date`
    public var purchaseDate: AppleTimestamp?
    /// `original-purchase-date-ms` or `original-purchase-date`
    public var originalPurchaseDate: AppleTimestamp?
    /// `expires-date` (milliseconds) or `expires-date-formatted`
    public var expiresDate: AppleTimestamp?
    /// `cancellation-date-ms` or `cancellation-date`
    public var cancellationDate: AppleTimestamp?
    /// Whether a cancellation is written at all, readable or not.
    public var isCancelled: Bool
    /// `web-order-line-item-id`
    public var webOrderLineItemId: TransactionID?
    /// `is-trial-period`
    public var isTrialPeriod: Bool?
    /// `is-in-intro-offer-period`
    public var isInIntroductoryOfferPeriod: Bool?
    /// `purchase-info` without its base64: the octets that were signed.
    public var purchaseInfo: [UInt8]
    /// `signature` without its base64: one octet of version, the signature, the length of the certificate, the certificate.
    public var signature: [UInt8]?
}

extension TransactionReceipt {
    /// - Throws: ``ReceiptReadError/malformedTransactionReceipt``, ``ReceiptReadError/tooLarge``.
    public init(propertyList bytes: [UInt8]) throws(ReceiptReadError) {
        guard bytes.count <= ReceiptLimits.transactionReceiptBytes else { throw .tooLarge }
        guard let outer = PropertyListDictionary(bytes[...]),
            let encoded = outer.values["purchase-info"],
            let information = Base64.decode(encoded, .lenient),
            let inner = PropertyListDictionary(information[...])
        else { throw .malformedTransactionReceipt }

        environment = Self.environment(outer)
        purchaseInfo = information
        signature = outer.values["signature"].flatMap { Base64.decode($0, .lenient) }
        bundleId = BundleID(inner.text("bid"))
        applicationVersion = inner.text("bvrs")
        productId = ProductID(inner.text("product-id"))
        transactionId = TransactionID(inner.identifier("transaction-id"))
        originalTransactionId = TransactionID(inner.identifier("original-transaction-id"))
        quantity = inner.integer("quantity")
        purchaseDate = inner.date("purchase-date-ms", "purchase-date")
        originalPurchaseDate = inner.date("original-purchase-date-ms", "original-purchase-date")
        expiresDate = inner.date("expires-date", "expires-date-formatted")
        cancellationDate = inner.date("cancellation-date-ms", "cancellation-date")
        isCancelled = inner.isPresent("cancellation-date-ms") || inner.isPresent("cancellation-date")
        webOrderLineItemId = TransactionID(inner.identifier("web-order-line-item-id"))
        isTrialPeriod = inner.bool("is-trial-period")
        isInIntroductoryOfferPeriod = inner.bool("is-in-intro-offer-period")
    }

    private static func environment(_ outer: PropertyListDictionary) -> AppleEnvironment {
        if let raw = outer.text("environment") { return AppleEnvironment(raw: raw) }
        guard let pod = outer.integer("pod") else { return .unnamed }
        return AppleEnvironment(raw: "", kind: pod == 100 ? .sandbox : .production)
    }
}

extension PropertyListDictionary {
    fileprivate func isPresent(_ key: String) -> Bool { values[key]?.isEmpty == false }

    fileprivate func text(_ key: String) -> String? { values[key].flatMap(StoreText.text) }

    fileprivate func identifier(_ key: String) -> String? { values[key].flatMap(StoreText.identifier) }

    fileprivate func integer(_ key: String) -> Int64? { identifier(key).flatMap { Int64($0) } }

    fileprivate func bool(_ key: String) -> Bool? {
        switch identifier(key) {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// Milliseconds under the first key, or a written date under either.
    fileprivate func date(_ keys: String...) -> AppleTimestamp? {
        for key in keys {
            if let number = integer(key) { return AppleTimestamp(external: Double(number)) }
            if let date = values[key].flatMap(AppleTimestamp.init(text:)) { return date }
        }
        return nil
    }
}
