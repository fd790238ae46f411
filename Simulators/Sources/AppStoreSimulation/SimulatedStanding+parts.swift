public import Foundation

/// What is signed of it.
extension SimulatedStanding {
    private static let day: TimeInterval = 86_400

    /// - Parameters:
    ///   - app: the bundle id where none was said.
    ///   - environment: where none was said.
    public func transaction(
        of originalTransactionId: String, app: String, environment: String, at now: Date
    ) -> SimulatedTransaction {
        var transaction = SimulatedTransaction(
            bundleId: bundleId ?? app, environment: self.environment ?? environment, productId: productId,
            transactionId: transactionId ?? originalTransactionId, originalTransactionId: originalTransactionId,
            webOrderLineItemId: webOrderLineItemId,
            purchaseDate: purchaseDate ?? min(now, expiresDate.addingTimeInterval(-30 * Self.day)),
            originalPurchaseDate: originalPurchaseDate, expiresDate: expiresDate)
        let isRevoked = revocationDate != nil || status == SimulatedNotification.Status.revoked.rawValue
        if isRevoked {
            transaction.revocationDate = revocationDate ?? now
            transaction.revocationReason = revocationReason ?? 0
            transaction.revocationType = revocationType ?? "REFUND_FULL"
        }
        if let inAppOwnershipType { transaction.inAppOwnershipType = inAppOwnershipType }
        if let transactionReason { transaction.transactionReason = transactionReason }
        if let storefront { transaction.storefront = storefront }
        transaction.appAccountToken = appAccountToken
        transaction.isUpgraded = isUpgraded
        transaction.previousOriginalTransactionId = previousOriginalTransactionId
        return transaction
    }

    public func renewal(of originalTransactionId: String, environment: String) -> SimulatedRenewal {
        let said = status.flatMap { SimulatedNotification.Status(rawValue: $0) }
        return SimulatedRenewal(
            originalTransactionId: originalTransactionId, productId: productId, autoRenewProductId: autoRenewProductId,
            autoRenewStatus: autoRenewStatus ?? 1, expirationIntent: expirationIntent,
            isInBillingRetryPeriod: isInBillingRetryPeriod ?? (said == .billingRetry || said == .grace),
            gracePeriodExpiresDate: gracePeriodExpiresDate
                ?? (said == .grace ? expiresDate.addingTimeInterval(16 * Self.day) : nil),
            priceIncreaseStatus: priceIncreaseStatus, environment: self.environment ?? environment)
    }
}

extension SimulatedNotification.Status {
    /// What follows from the dates.
    public init(_ transaction: SimulatedTransaction, _ renewal: SimulatedRenewal, at moment: Date) {
        if transaction.revocationDate != nil {
            self = .revoked
        } else if transaction.expiresDate.map({ moment < $0 }) ?? true {
            self = .active
        } else if renewal.gracePeriodExpiresDate.map({ moment < $0 }) ?? false {
            self = .grace
        } else {
            self = renewal.isInBillingRetryPeriod == true ? .billingRetry : .expired
        }
    }
}
