public import Foundation

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
