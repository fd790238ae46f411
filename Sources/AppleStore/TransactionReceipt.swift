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
