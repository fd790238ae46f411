public import RelayCore

/// What was read out of a receipt: the purchase that counts, and what stands beside it. Nothing has been verified.
public struct ReadPurchase: Sendable, Hashable {
    public enum Format: String, Sendable, Hashable {
        case appReceipt, transactionReceipt, signedTransaction
    }

    public let format: Format
    public let environment: AppleEnvironment
    public let bundleId: BundleID?
    /// When the store made what was read: the receipt's creation date, the transaction's `signedDate`; nil for a
    /// transaction receipt, which has neither. A receipt is a snapshot of that moment; later renewals are not in it.
    public let issuedDate: AppleTimestamp?
    /// The purchase that counts.
    public let entry: PurchaseEntry
    /// Whether that is the one that the app spoke of; else the receipt does not hold that one.
    public let isNamed: Bool
    /// The entry that counts of each subscription in the receipt, by original transaction id (by product where there
    /// is none), uncancelled and longest-running ones first. Cancelled and expired ones are among them.
    public let subscriptions: [PurchaseEntry]
    /// All that was read, with what verifying it takes.
    public let document: PurchaseDocument
}

extension ReadPurchase {
    /// See ``PurchaseEntry/originalTransactionId``: nil means that the app's own transaction id must be the key.
    public var originalTransactionId: TransactionID? { entry.originalTransactionId }
    public var transactionId: TransactionID? { entry.transactionId }
    public var productId: ProductID? { entry.productId }
    public var purchaseDate: AppleTimestamp? { entry.purchaseDate }
    public var originalPurchaseDate: AppleTimestamp? { entry.originalPurchaseDate }
    public var expiresDate: AppleTimestamp? { entry.expiresDate }
    public var cancellationDate: AppleTimestamp? { entry.cancellationDate }
}
