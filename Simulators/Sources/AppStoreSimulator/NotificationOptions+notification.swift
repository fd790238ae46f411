import AppStoreSimulation
import Foundation

/// What follows from a notification's type, where nothing else was said.
extension NotificationOptions {
    func notification(at now: Date) -> SimulatedNotification {
        let told = originalTransactionID.map { transaction(of: $0, at: now) }
        return SimulatedNotification(
            notificationType: type, subtype: subtype, notificationUUID: (uuid ?? UUID().uuidString).lowercased(),
            environment: environment, bundleId: bundleID, appAppleId: appAppleID,
            status: told.map { status($0, at: now) }, transaction: told,
            renewal: originalTransactionID.map { renewal(of: $0, at: now) }, signedDate: now)
    }

    private var isTakenBack: Bool { ["REFUND", "REVOKE"].contains(type) }
    private var isExpired: Bool { type == "EXPIRED" }
    private var isUnpaid: Bool { ["DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED"].contains(type) }
    private var hasGrace: Bool { type == "DID_FAIL_TO_RENEW" && subtype == "GRACE_PERIOD" }

    private func transaction(of original: String, at now: Date) -> SimulatedTransaction {
        let month: TimeInterval = 30 * 86_400
        let end = now.addingTimeInterval(expiresIn ?? (isExpired || isUnpaid ? 0 : month))
        var transaction = SimulatedTransaction(
            bundleId: bundleID, environment: environment, productId: productID,
            transactionId: transactionID ?? original, originalTransactionId: original,
            purchaseDate: end > now ? now : end.addingTimeInterval(-month), expiresDate: end)
        transaction.transactionReason = type == "DID_RENEW" ? "RENEWAL" : "PURCHASE"
        if isTakenBack {
            transaction.revocationDate = now
            transaction.revocationReason = 0
            transaction.revocationType = type == "REVOKE" ? "FAMILY_REVOKE" : "REFUND_FULL"
        }
        return transaction
    }

    private func renewal(of original: String, at now: Date) -> SimulatedRenewal {
        let isOff = subtype == "AUTO_RENEW_DISABLED" || (isExpired && subtype == "VOLUNTARY")
        let consents = ["PENDING": 0, "ACCEPTED": 1]
        return SimulatedRenewal(
            originalTransactionId: original, productId: productID, autoRenewProductId: autoRenewProductID,
            autoRenewStatus: isOff ? 0 : 1, expirationIntent: expirationIntent, isInBillingRetryPeriod: isUnpaid,
            gracePeriodExpiresDate: hasGrace ? now.addingTimeInterval(graceIn) : nil,
            priceIncreaseStatus: type == "PRICE_INCREASE" ? subtype.flatMap { consents[$0] } : nil,
            environment: environment)
    }

    /// Source: App Store Server API, `expirationIntent`.
    private var expirationIntent: Int? {
        if isUnpaid { return hasGrace ? nil : 2 }
        guard isExpired else { return nil }
        switch subtype {
        case "VOLUNTARY": return 1
        case "BILLING_RETRY": return 2
        case "PRICE_INCREASE": return 3
        case "PRODUCT_NOT_FOR_SALE": return 4
        default: return 5
        }
    }

    private func status(_ transaction: SimulatedTransaction, at now: Date) -> SimulatedNotification.Status {
        if isTakenBack { return .revoked }
        if isExpired { return .expired }
        if let end = transaction.expiresDate, end > now { return .active }
        if isUnpaid { return hasGrace && graceIn > 0 ? .grace : .billingRetry }
        return .expired
    }
}
