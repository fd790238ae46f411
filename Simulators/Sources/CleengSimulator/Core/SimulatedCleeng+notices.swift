extension SimulatedCleeng {
    /// Acts on what the App Store says of a subscription that was granted here. Notifications come in any order, so what
    /// is older than the last one that was acted on says nothing any more; version 1 has no date and always counts.
    mutating func apply(_ notice: StoreNotice) {
        guard let effect = notice.effect, let key = notice.originalTransactionId,
            let owner = subscriptions[key]?.owner
        else { return }
        if let signedAt = notice.signedAt {
            if let newest = subscriptions[key]?.lastNoticeAt, signedAt < newest { return }
            subscriptions[key]?.lastNoticeAt = signedAt
        }
        switch effect {
        case .terminate:
            subscriptions[key]?.lapsesAt = nil
            change(key, to: .terminated, until: nil, .notified, at: now)
        case .activate(let end):
            subscriptions[key]?.lapsesAt = nil
            change(key, to: .active, until: end, .notified, at: now)
        case .renewal(let isOn):
            // Switching renewal gives nothing back to whom it was taken from: a refund often switches it off too.
            guard owner.status.entitles else { return }
            change(key, to: isOn ? .active : .cancelled, until: nil, .notified, at: now)
        case .lapse(let end):
            let due = max(end, now)
            subscriptions[key]?.lapsesAt = due
            lapses.add(Lapse(dueAt: due, originalTransactionId: key))
            // An end that has passed is due at once.
            lapse(until: now)
        case .grace:
            subscriptions[key]?.lapsesAt = nil
        }
    }

    /// Ends what had not been paid for when its time came.
    mutating func lapse(until moment: Moment) {
        while let due = lapses.popDue(at: moment) {
            let key = due.originalTransactionId
            // Something newer was said, or granted, since.
            guard subscriptions[key]?.lapsesAt == due.dueAt else { continue }
            subscriptions[key]?.lapsesAt = nil
            guard subscriptions[key]?.owner?.status.entitles == true else { continue }
            change(key, to: .terminated, until: nil, .lapsed, at: due.dueAt)
        }
    }

    /// - Parameter end: nil where the one that is known stands.
    private mutating func change(
        _ key: String, to status: EntitlementStatus, until end: Moment?, _ kind: SubscriptionEvent.Kind,
        at moment: Moment
    ) {
        guard let owner = subscriptions[key]?.owner else { return }
        customers[owner.email]?.change(subscriptionId: owner.subscriptionId) { entitlement in
            entitlement.status = status
            entitlement.expiresAt = end ?? entitlement.expiresAt
        }
        subscriptions[key]?.owner?.status = status
        subscriptions[key]?.note(
            SubscriptionEvent(
                at: moment, kind: kind, from: owner.email, to: owner.email, offerId: owner.offerId,
                subscriptionId: owner.subscriptionId, previousSubscriptionId: nil, status: status))
        if owner.status.entitles, !status.entitles {
            tellOfEnd(of: owner.email, owner.offerId, subscriptionId: owner.subscriptionId, causedBy: owner.email)
        }
    }
}
