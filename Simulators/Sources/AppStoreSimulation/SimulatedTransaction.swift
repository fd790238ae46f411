public import Foundation

/// What a signed transaction is to say, under the names of Apple's `JWSTransactionDecodedPayload`. What is nil is left out.
public struct SimulatedTransaction: Sendable, Hashable, Encodable {
    public var bundleId: String
    /// `Production` or `Sandbox`.
    public var environment: String
    public var productId: String
    public var transactionId: String
    public var originalTransactionId: String
    /// The number of the period's line in the order, the same on a device and on a server.
    public var webOrderLineItemId: String?
    public var purchaseDate: Date
    public var originalPurchaseDate: Date
    /// Nil for what does not expire.
    public var expiresDate: Date?
    public var type = "Auto-Renewable Subscription"
    /// `PURCHASED` or `FAMILY_SHARED`.
    public var inAppOwnershipType = "PURCHASED"
    public var revocationDate: Date?
    public var revocationReason: Int?
    /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
    public var revocationType: String?
    /// True or left out.
    public var isUpgraded: Bool?
    public var previousOriginalTransactionId: String?
    /// In the letter case in which it is to be written.
    public var appAccountToken: String?
    /// `PURCHASE` or `RENEWAL`.
    public var transactionReason = "PURCHASE"
    public var quantity = 1
    public var storefront = "USA"

    /// - Parameters:
    ///   - originalTransactionId: without it, the transaction's own.
    ///   - originalPurchaseDate: without it, the transaction's own.
    public init(
        bundleId: String, environment: String = "Sandbox", productId: String, transactionId: String,
        originalTransactionId: String? = nil, webOrderLineItemId: String? = nil, purchaseDate: Date,
        originalPurchaseDate: Date? = nil, expiresDate: Date?
    ) {
        self.bundleId = bundleId
        self.environment = environment
        self.productId = productId
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId ?? transactionId
        self.webOrderLineItemId = webOrderLineItemId
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate ?? purchaseDate
        self.expiresDate = expiresDate
    }

    /// What ``StoreAuthority/sign(json:algorithm:certificates:)`` takes.
    public func json(signedDate: Date) throws -> Data {
        try SimulatedJSON.encode(SignedPart(content: self, signedDate: signedDate))
    }
}

extension [SimulatedTransaction] {
    /// When one of them was taken back, or replaced by the next: receipts call both cancelled.
    func cancellationDate(of transaction: SimulatedTransaction) -> Date? {
        guard transaction.revocationDate == nil, transaction.isUpgraded == true else {
            return transaction.revocationDate
        }
        return map(\.purchaseDate).filter { $0 > transaction.purchaseDate }.min()
    }
}
