extension SimulatedCleeng {
    /// `POST /_simulator/customers/{email}/entitlements`: gives an entitlement at once, or changes the one that the
    /// customer has to that offer.
    mutating func setEntitlement(_ email: CustomerEmail, _ call: ControlCall) throws(ControlFault) -> Reply {
        try call.allowOnly("offerId", "status", "expiresAt", "originalTransactionId")
        guard let offer = call.body?["offerId"]?.string.flatMap({ OfferId($0) }) else {
            throw .invalid("offerId is required, such as S123456789_US")
        }
        guard let status = EntitlementStatus(rawValue: call.body?["status"]?.string ?? "active") else {
            throw .invalid("status is active, cancelled or terminated")
        }
        let expiresAt = try call.expiresAt()
        let named = call.body?["originalTransactionId"]?.string
        guard named.map({ (1...64).contains($0.utf8.count) }) ?? (call.body?["originalTransactionId"] == nil) else {
            throw .invalid("originalTransactionId is a text of 64 bytes at most")
        }
        meet(email)
        customers[email]?.isKnown = true
        if let existing = entitlement(of: email, to: offer, named) {
            change(existing, of: email, to: status, expiresAt)
        } else {
            let key = named ?? "set-\(makeGrantSequence())"
            let entitlement = Entitlement(
                subscriptionId: makeSubscriptionId(), originalTransactionId: key, offerId: offer, status: status,
                grantedAt: now, expiresAt: expiresAt ?? expiry(expired: false, from: now), appType: "ios")
            establish(entitlement, for: email, by: .hand)
        }
        guard let customer = customers[email] else { throw .notFound("no such customer") }
        return Reply(json: CustomerView(customer, pending: []))
    }

    /// The newest one that still runs, else the newest.
    private func entitlement(of email: CustomerEmail, to offer: OfferId, _ key: String?) -> Entitlement? {
        let matching = customers[email]?.entitlements.filter { entitlement in
            entitlement.offerId == offer && entitlement.replacedBy == nil
                && (key == nil || key == entitlement.originalTransactionId)
        }
        return matching?.last(where: \.status.entitles) ?? matching?.last
    }

    private mutating func change(
        _ existing: Entitlement, of email: CustomerEmail, to status: EntitlementStatus, _ expiresAt: Moment?
    ) {
        customers[email]?.change(subscriptionId: existing.subscriptionId) { entitlement in
            entitlement.status = status
            entitlement.expiresAt = expiresAt ?? entitlement.expiresAt
        }
        if existing.status.entitles, !status.entitles {
            tellOfEnd(of: email, existing.offerId, subscriptionId: existing.subscriptionId, causedBy: email)
        }
        let key = existing.originalTransactionId
        guard subscriptions[key]?.owner?.subscriptionId == existing.subscriptionId else { return }
        subscriptions[key]?.owner?.status = status
        subscriptions[key]?.note(
            SubscriptionEvent(
                at: now, kind: .set, from: email, to: email, offerId: existing.offerId,
                subscriptionId: existing.subscriptionId, previousSubscriptionId: nil, status: status))
    }
}
