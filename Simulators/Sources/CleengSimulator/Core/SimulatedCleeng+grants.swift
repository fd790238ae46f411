extension SimulatedCleeng {
    /// Takes in a payment whose structure is right. What comes of it shows later, in the entitlements.
    mutating func accept(_ payment: Payment) {
        let email = payment.email
        customers[email]?.isKnown = true
        customers[email]?.paymentsAccepted += 1
        if let address = payment.ipAddress { customers[email]?.lastAddress = address }
        guard let behaviour = customers[email]?.behaviour else { return }
        let delay: Int64
        switch behaviour.grant ?? standard.grant {
        case .never where !behaviour.webhook.refuses: return
        case .after(let milliseconds): delay = milliseconds
        case .never, nil: delay = settings.grantAfterMilliseconds
        }
        if behaviour.webhook.refuses { return tellOfRefusal(payment, afterMilliseconds: delay) }
        if let last = subscriptions[payment.subscription]?.lastWord,
            last.email == email, last.offerId == payment.offerId,
            last.status.entitles || last.status == behaviour.status
        {
            // The same receipt from the same customer again: a subscription exists, nothing is to be done but say so.
            return tellOfRepeatLater(payment, afterMilliseconds: delay)
        }
        enqueue(
            PendingGrant(
                sequence: makeGrantSequence(), grantAt: now.adding(milliseconds: delay),
                originalTransactionId: payment.subscription, email: email, offerId: payment.offerId,
                status: behaviour.status, expired: behaviour.expired, appType: payment.appType))
    }

    private mutating func enqueue(_ pending: PendingGrant) {
        let key = pending.originalTransactionId
        if subscriptions[key] == nil { _ = subscriptions.insert(Subscription(), for: key) }
        subscriptions[key]?.pending.append(pending)
        agenda.add(pending)
        // A delay of nothing is due at once.
        advance(to: now)
    }

    /// Lets a grant take effect. Whoever was granted the subscription before loses it.
    mutating func grant(_ pending: PendingGrant) {
        let key = pending.originalTransactionId
        subscriptions[key]?.pending.removeAll { $0.sequence == pending.sequence }
        guard subscriptions[key] != nil, customers[pending.email] != nil else { return }
        if let owner = subscriptions[key]?.owner, owner.email == pending.email, owner.offerId == pending.offerId,
            owner.status.entitles
        {
            return tellOfRepeat(of: pending.email, pending.offerId, key)
        }
        let entitlement = Entitlement(
            subscriptionId: makeSubscriptionId(), originalTransactionId: key, offerId: pending.offerId,
            status: pending.status, grantedAt: pending.grantAt,
            expiresAt: expiry(expired: pending.expired, from: pending.grantAt), appType: pending.appType)
        establish(entitlement, for: pending.email, by: .payment)
    }

    /// Makes a new subscription the current one and terminates the one before, if that was still running.
    mutating func establish(_ entitlement: Entitlement, for email: CustomerEmail, by origin: SubscriptionOrigin) {
        let key = entitlement.originalTransactionId
        let id = entitlement.subscriptionId
        if subscriptions[key] == nil { _ = subscriptions.insert(Subscription(), for: key) }
        let previous = subscriptions[key]?.owner
        var kind = origin == .hand ? SubscriptionEvent.Kind.set : .created
        if let previous, previous.status.entitles {
            kind = previous.email == email ? .upgraded : .transferred
            customers[previous.email]?.change(subscriptionId: previous.subscriptionId) { old in
                old.status = .terminated
                old.replacedBy = id
            }
        }
        customers[email]?.add(entitlement)
        subscriptions[key]?.owner = Subscription.Owner(
            email: email, offerId: entitlement.offerId, subscriptionId: id, status: entitlement.status)
        subscriptions[key]?.lapsesAt = nil
        subscriptions[key]?.note(
            SubscriptionEvent(
                at: entitlement.grantedAt, kind: kind, from: previous?.email, to: email,
                offerId: entitlement.offerId, subscriptionId: id,
                previousSubscriptionId: previous?.subscriptionId, status: entitlement.status))
        counters.grants += 1
        if kind == .transferred { counters.transfers += 1 }
        if kind == .upgraded { counters.upgrades += 1 }
        tellOfNew(entitlement, of: email, after: previous, by: origin)
    }
}
