public import RelayCore

/// A version 1 notification (App Store Server Notifications, `responseBodyV1`), read, not verified. It is not signed;
/// only the shared secret in it proves its origin.
///
/// Apple writes dates and numbers as texts. Unreadable ones are nil.
public struct StatusUpdate: Sendable, Hashable {
    /// An element of `latest_receipt_info`.
    public struct Transaction: Sendable, Hashable {
        public var transactionId: TransactionID?
        public var originalTransactionId: TransactionID?
        public var webOrderLineItemId: TransactionID?
        public var productId: ProductID?
        public var purchaseDate: AppleTimestamp?
        public var originalPurchaseDate: AppleTimestamp?
        public var expiresDate: AppleTimestamp?
        public var cancellationDate: AppleTimestamp?
        public var isUpgraded: Bool?
        public var inAppOwnershipType: String?
        public var cancellationReason: Int64?
        public var isTrialPeriod: Bool?
        public var isInIntroOfferPeriod: Bool?
        public var promotionalOfferId: String?
    }

    /// An element of `pending_renewal_info`.
    public struct Renewal: Sendable, Hashable {
        public var originalTransactionId: TransactionID?
        public var autoRenewProductId: ProductID?
        public var autoRenewStatus: String?
        public var expirationIntent: Int64?
        public var isInBillingRetryPeriod: String?
        public var gracePeriodExpiresDate: AppleTimestamp?
        public var priceConsentStatus: Int64?
    }

    public var notificationType: String
    /// `Sandbox` or `PROD`.
    public var environment: AppleEnvironment
    public var bundleId: BundleID?
    public var autoRenewProductId: ProductID?
    public var autoRenewStatus: String?
    public var autoRenewStatusChangeDate: AppleTimestamp?
    public var originalTransactionId: TransactionID?
    /// Creation date of the receipt in the notification, which dates the notification. Nil without a readable receipt.
    public var receiptCreationDate: AppleTimestamp?
    public var transactions: [Transaction]
    public var renewals: [Renewal]
}
