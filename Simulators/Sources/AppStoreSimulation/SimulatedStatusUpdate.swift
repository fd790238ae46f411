public import Foundation

/// Content of a version 1 notification (App Store Server Notifications, `responseBodyV1`): unsigned, with every number
/// as text.
public struct SimulatedStatusUpdate: Sendable, Hashable {
    public var notificationType: String
    /// The shared secret, the only proof of its origin.
    public var password: String?
    /// `Sandbox` or `PROD`.
    public var environment: String
    public var bundleId: String
    public var autoRenewStatus: Bool
    public var autoRenewStatusChangeDate: Date?
    public var autoRenewProductId: String
    public var originalTransactionId: String
    /// Oldest first; written newest first, like Apple's.
    public var transactions: [SimulatedTransaction]
    public var renewals: [SimulatedRenewal]

    public init(
        notificationType: String, password: String?, environment: String = "Sandbox", bundleId: String,
        autoRenewStatus: Bool = true, autoRenewStatusChangeDate: Date? = nil, autoRenewProductId: String,
        originalTransactionId: String, transactions: [SimulatedTransaction], renewals: [SimulatedRenewal]
    ) {
        self.notificationType = notificationType
        self.password = password
        self.environment = environment
        self.bundleId = bundleId
        self.autoRenewStatus = autoRenewStatus
        self.autoRenewStatusChangeDate = autoRenewStatusChangeDate
        self.autoRenewProductId = autoRenewProductId
        self.originalTransactionId = originalTransactionId
        self.transactions = transactions
        self.renewals = renewals
    }
}

extension SimulatedStatusUpdate {
    /// The body that the App Store posts.
    public func json() throws -> Data {
        let receipt = UnifiedReceipt(
            environment: environment == "PROD" ? "Production" : environment,
            latestReceiptInfo: transactions.reversed().map { ReceiptInfo($0, among: transactions) },
            pendingRenewalInfo: renewals.map { RenewalInfo($0) })
        return try SimulatedJSON.encode(
            Body(
                notificationType: notificationType, password: password, environment: environment, bid: bundleId,
                autoRenewStatus: autoRenewStatus ? "true" : "false",
                autoRenewStatusChangeDateMs: autoRenewStatusChangeDate?.millisecondsText,
                autoRenewProductId: autoRenewProductId, originalTransactionId: originalTransactionId,
                unifiedReceipt: receipt), inSnakeCase: true)
    }

    private struct Body: Encodable {
        var notificationType: String
        var password: String?
        var environment: String
        var bid: String
        var autoRenewStatus: String
        var autoRenewStatusChangeDateMs: String?
        var autoRenewProductId: String
        var originalTransactionId: String
        var unifiedReceipt: UnifiedReceipt
    }

    private struct UnifiedReceipt: Encodable {
        var environment: String
        var latestReceiptInfo: [ReceiptInfo]
        var pendingRenewalInfo: [RenewalInfo]
    }

    private struct ReceiptInfo: Encodable {
        var transactionId: String
        var originalTransactionId: String
        var webOrderLineItemId: String?
        var productId: String
        var quantity: String
        var purchaseDateMs: String
        var originalPurchaseDateMs: String
        var expiresDateMs: String?
        var cancellationDateMs: String?
        var cancellationReason: String?
        var isUpgraded: String?
        var inAppOwnershipType: String

        init(_ transaction: SimulatedTransaction, among all: [SimulatedTransaction]) {
            transactionId = transaction.transactionId
            originalTransactionId = transaction.originalTransactionId
            webOrderLineItemId = transaction.webOrderLineItemId
            productId = transaction.productId
            quantity = String(transaction.quantity)
            purchaseDateMs = transaction.purchaseDate.millisecondsText
            originalPurchaseDateMs = transaction.originalPurchaseDate.millisecondsText
            expiresDateMs = transaction.expiresDate?.millisecondsText
            cancellationDateMs = all.cancellationDate(of: transaction)?.millisecondsText
            cancellationReason = transaction.revocationReason.map { String($0) }
            isUpgraded = transaction.isUpgraded == true ? "true" : nil
            inAppOwnershipType = transaction.inAppOwnershipType
        }
    }

    private struct RenewalInfo: Encodable {
        var originalTransactionId: String
        var productId: String
        var autoRenewProductId: String
        var autoRenewStatus: String
        var expirationIntent: String?
        var isInBillingRetryPeriod: String?
        var gracePeriodExpiresDateMs: String?
        var priceConsentStatus: String?

        init(_ renewal: SimulatedRenewal) {
            originalTransactionId = renewal.originalTransactionId
            productId = renewal.productId
            autoRenewProductId = renewal.autoRenewProductId
            autoRenewStatus = String(renewal.autoRenewStatus)
            expirationIntent = renewal.expirationIntent.map { String($0) }
            isInBillingRetryPeriod = renewal.isInBillingRetryPeriod.map { $0 ? "1" : "0" }
            gracePeriodExpiresDateMs = renewal.gracePeriodExpiresDate?.millisecondsText
            priceConsentStatus = renewal.priceIncreaseStatus.map { String($0) }
        }
    }
}

extension Date {
    fileprivate var millisecondsText: String { String(millisecondsSince1970) }
}
