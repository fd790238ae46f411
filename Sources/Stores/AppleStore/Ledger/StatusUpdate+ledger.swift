public import RelayCore

extension StatusUpdate {
    /// The notification in the relay's terms. Call this on a verified notification only.
    public var notification: StoreNotification {
        let ours = transactions.filter { $0.originalTransactionId == originalTransactionId }
        let newest = ours.max { $0.lastChange ?? Timestamp(seconds: 0) < $1.lastChange ?? Timestamp(seconds: 0) }
        // Version 1 has no date of its own. The receipt's date is used, else that of the newest item.
        let said =
            receiptCreationDate?.moment
            ?? [autoRenewStatusChangeDate?.moment, newest?.lastChange, earliestFailure(ours)].compactMap(\.self).max()
        var notification = StoreNotification(
            version: .one, identity: identity(newest), type: notificationType, environment: environment.name,
            bundleID: bundleId, originalTransactionID: originalTransactionId, saidAt: said,
            statement: said.flatMap { statement(of: ours, said: $0) })
        notification.isKnownType = KnownTypes.contains(notificationType)
        return notification
    }

    /// Earliest possible time of a failed payment: Apple tries it at most a day before the end.
    private func earliestFailure(_ ours: [Transaction]) -> Timestamp? {
        guard notificationType == "DID_FAIL_TO_RENEW" else { return nil }
        return ours.compactMap { $0.expiresDate?.moment }.max().map { $0 + .seconds(-86_400) }
    }

    /// Key of the notification, which has no id of its own. Built from parts that are the same in each delivery; the
    /// receipt differs.
    private func identity(_ newest: Transaction?) -> String {
        var parts = [
            "1", notificationType, environment.name.text, bundleId?.text ?? "",
            originalTransactionId?.text ?? "",
            newest?.transactionId?.text ?? "",
        ]
        // A customer may change these settings several times within one period.
        switch notificationType {
        case "DID_CHANGE_RENEWAL_STATUS":
            parts += [autoRenewStatus ?? "", autoRenewStatusChangeDate.map { String($0.millisecondsSince1970) } ?? ""]
        case "DID_CHANGE_RENEWAL_PREF": parts.append(autoRenewProductId?.text ?? "")
        default: break
        }
        return parts.joined(separator: ":")
    }

    private func statement(of ours: [Transaction], said: Timestamp) -> LedgerStatement? {
        guard originalTransactionId != nil else { return nil }
        let isFamilyEnd = notificationType == "REVOKE"
        let periods = ours.compactMap { $0.period(said: said, isFamilyEnd: isFamilyEnd) }
        guard !periods.isEmpty else { return nil }
        let stated = renewals.first { $0.originalTransactionId == originalTransactionId }
        let status = stated?.autoRenewStatus ?? autoRenewStatus
        let renewal = LedgerRenewal(
            willRenew: status.map { ["1", "true"].contains($0) },
            productID: stated?.autoRenewProductId ?? autoRenewProductId,
            isInBillingRetry: stated?.isInBillingRetryPeriod == "1" || notificationType == "DID_FAIL_TO_RENEW",
            graceUntil: stated?.gracePeriodExpiresDate?.moment,
            expirationIntent: stated?.expirationIntent.map { Int(clamping: $0) },
            priceConsent: stated?.priceConsentStatus.map { Int(clamping: $0) }, statedAt: said)
        return LedgerStatement(
            periods: periods, renewal: status == nil && stated == nil ? nil : renewal,
            intentChangedAt: autoRenewStatusChangeDate?.moment)
    }
}

extension StatusUpdate.Transaction {
    /// Time of the purchase or of its cancellation, whichever is later.
    fileprivate var lastChange: Timestamp? {
        [purchaseDate?.moment, cancellationDate?.moment].compactMap(\.self).max()
    }

    fileprivate func period(said: Timestamp, isFamilyEnd: Bool) -> LedgerPeriod? {
        // Version 1 does not distinguish consumables from lasting products. A transaction without an expiry date is
        // recorded only when it is cancelled, under the id that a receipt gives it.
        guard let id = expiresDate == nil ? originalTransactionId : webOrderLineItemId ?? transactionId, let productId,
            let purchased = purchaseDate?.moment, expiresDate != nil || cancellationDate != nil
        else { return nil }
        let isUpgraded = isUpgraded ?? false
        let isFamily = isFamilyEnd || inAppOwnershipType == "FAMILY_SHARED"
        return LedgerPeriod(
            id: id, productID: productId, purchasedAt: purchased, expiresAt: expiresDate?.end,
            // An upgraded purchase has a cancellation date too.
            revocation: isUpgraded
                ? nil
                : cancellationDate?.moment.map {
                    .init(
                        at: $0, kind: isFamily ? .familyRevoked : .refunded,
                        reason: isFamily
                            ? nil : cancellationReason.flatMap { .init(revocationReason: Int(clamping: $0)) })
                },
            isUpgraded: isUpgraded, statedAt: said, transactionID: transactionId,
            originalPurchasedAt: originalPurchaseDate?.moment, isTrial: isTrialPeriod, isIntro: isInIntroOfferPeriod,
            discountID: DiscountID(promotionalOfferId))
    }
}
