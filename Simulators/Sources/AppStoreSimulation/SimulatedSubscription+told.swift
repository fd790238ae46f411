public import Foundation

/// What is told of it.
extension SimulatedSubscription {
    /// The app receipt of a moment, with all periods so far.
    public func receipt(at moment: Date) -> SimulatedReceipt {
        SimulatedReceipt(
            environment: environment == "Sandbox" ? "ProductionSandbox" : environment, bundleId: bundleId,
            creationDate: moment,
            purchases: transactions.map { transaction in
                SimulatedReceipt.Purchase(
                    productId: transaction.productId, transactionId: transaction.transactionId,
                    originalTransactionId: transaction.originalTransactionId, purchaseDate: transaction.purchaseDate,
                    originalPurchaseDate: transaction.originalPurchaseDate, expiresDate: transaction.expiresDate,
                    cancellationDate: transactions.cancellationDate(of: transaction),
                    webOrderLineItemId: transaction.webOrderLineItemId.flatMap { Int64($0) })
            })
    }

    /// What renewal information says of the newest period now.
    public var renewal: SimulatedRenewal { renewalInformation(besides: transaction) }

    /// A version 1 notification of how it stands now, which has no moment of its own.
    ///
    /// - Parameter type: `INITIAL_BUY`, `DID_RENEW`, `CANCEL` and so on.
    public func statusUpdate(_ type: String, password: String?) -> SimulatedStatusUpdate {
        SimulatedStatusUpdate(
            notificationType: type, password: password, environment: environment == "Production" ? "PROD" : environment,
            bundleId: bundleId, autoRenewStatus: willRenew, autoRenewStatusChangeDate: renewalTurnedAt,
            autoRenewProductId: autoRenewProductId, originalTransactionId: originalTransactionId,
            transactions: transactions, renewals: [renewal])
    }

    /// - Parameter told: nil for the newest transaction.
    func tell(
        _ type: String, _ subtype: String? = nil, about told: SimulatedTransaction? = nil, at moment: Date
    ) -> SimulatedNotification {
        let told = told ?? transaction
        return SimulatedNotification(
            notificationType: type, subtype: subtype, notificationUUID: uuidText(), environment: environment,
            bundleId: bundleId, appAppleId: appAppleId, status: status(at: moment), transaction: told,
            renewal: renewalInformation(besides: told), signedDate: moment)
    }

    /// Under the number that the transaction beside it has: it may be one from before a move.
    private func renewalInformation(besides told: SimulatedTransaction) -> SimulatedRenewal {
        SimulatedRenewal(
            originalTransactionId: told.originalTransactionId, productId: transaction.productId,
            autoRenewProductId: autoRenewProductId, autoRenewStatus: willRenew ? 1 : 0,
            expirationIntent: expirationIntent, isInBillingRetryPeriod: isInBillingRetry,
            gracePeriodExpiresDate: graceUntil, priceIncreaseStatus: priceIncreaseStatus, environment: environment)
    }

    private func status(at moment: Date) -> SimulatedNotification.Status {
        if isOver, transaction.revocationDate == nil { return .expired }
        return SimulatedNotification.Status(transaction, renewal, at: moment)
    }
}
