public import RelayCore

extension SignedNotification {
    /// The notification in the relay's terms. Call this on a verified notification only.
    ///
    /// A notification that is not understood changes nothing, and its environment is ``StoreEnvironment/unknown``. All
    /// other notifications from Apple have one of ``StoreScope/environments``.
    ///
    /// - Throws: ``NotGenuine`` if it has no signing date.
    public func notification() throws(NotGenuine) -> StoreNotification {
        guard let said = payload.signedDate?.moment else {
            throw NotGenuine(.noDate, "it does not say when it was signed")
        }
        let type = payload.notificationType ?? ""
        let original = transaction?.payload.originalTransactionId.flatMap { $0 == "0" ? nil : $0 }
        let subject = payload.subject.flatMap { $0.isReadable ? $0 : nil }
        var notification = StoreNotification(
            version: .two, identity: payload.notificationUUID.map { "2:\($0.lowercased())" } ?? "2:\(jws.fingerprint)",
            uuid: payload.notificationUUID, type: type, subtype: payload.subtype,
            environment: (isUnderstood ? subject : nil)?.environment.name ?? .unknown, bundleID: subject?.bundleId,
            originalTransactionID: original, saidAt: said)
        notification.isKnownType = KnownTypes.contains(type)
        guard isUnderstood else { return notification }
        notification.statement = original == nil ? nil : statement(type, said)
        notification.consumption = type == "CONSUMPTION_REQUEST" ? demand : nil
        notification.notice = notice(of: notification)
        return notification
    }

    /// Nil if the notification names no transaction.
    private var demand: ConsumptionDemand? {
        guard let purchase = transaction?.payload, let id = purchase.transactionId,
            purchase.originalTransactionId != nil
        else {
            return nil
        }
        return ConsumptionDemand(
            transactionID: id, reason: payload.data?.consumptionRequestReason,
            renews: purchase.type == .autoRenewableSubscription || purchase.type == nil && purchase.expiresDate != nil)
    }

    private func statement(_ type: String, _ said: Timestamp) -> LedgerStatement? {
        guard let purchase = transaction?.payload else { return nil }
        // The parts are signed one after another. The notification's time is that of its newest part.
        let whole =
            [said, purchase.signedDate?.moment, renewal?.payload.signedDate?.moment].compactMap(\.self).max() ?? said
        var periods = purchase.ledgerPeriods(
            replacesEarlier: payload.subtype == "UPGRADE", isFamilyEnd: type == "REVOKE", statedAt: whole)
        guard let period = periods.first else { return nil }
        var isOver = payload.data?.status?.isOver ?? (type == "EXPIRED" ? true : nil)
        if type == "REFUND", payload.subtype == "SEATS" {
            // A consumable has no access to keep.
            guard purchase.type != .consumable else { return nil }
            for index in periods.indices { periods[index].keepThroughSeatRefund() }
            if isOver == true { isOver = nil }
        }
        let previous = purchase.previousOriginalTransactionId.flatMap {
            $0 == purchase.originalTransactionId || $0 == "0" ? nil : $0
        }
        var renewal = renewal?.payload.ledgerRenewal
        if renewal?.expirationIntent == nil, let intent = expirationIntent(type) { renewal?.expirationIntent = intent }
        return LedgerStatement(
            periods: periods, renewal: renewal,
            end: isOver.map { LedgerEnd(isOver: $0, until: $0 ? period.expiresAt : nil, statedAt: whole) },
            movesFrom: previous.map { [$0] } ?? [], movedAt: previous.map { _ in whole },
            // A statement that this id has ended does not make it the present id again.
            isCurrentAt: previous.flatMap { _ in
                isOver == true || periods.allSatisfy { $0.revocation != nil } ? nil : whole
            },
            intentChangedAt: type == "DID_CHANGE_RENEWAL_STATUS" ? said : nil)
    }

    /// Apple's number for the reason of the end, derived from the subtype.
    private func expirationIntent(_ type: String) -> Int? {
        guard type == "EXPIRED" else { return nil }
        return switch payload.subtype {
        case "VOLUNTARY": 1
        case "BILLING_RETRY": 2
        case "PRICE_INCREASE": 3
        case "PRODUCT_NOT_FOR_SALE": 4
        default: nil
        }
    }
}
