/// State of one Apple subscription, identified by its original transaction id.
struct Subscription: Sendable {
    struct Owner: Sendable {
        let email: EmailAddress
        let offerId: OfferId
        let subscriptionId: Int
        var status: EntitlementStatus
    }

    static let historyLimit = 100

    /// nil until the first grant.
    var owner: Owner?
    /// In the order of their grant times.
    var pending: [PendingGrant] = []
    /// Signing time of the newest notification that was applied.
    var lastNoticeAt: SimulatedTime?
    /// Time at which it ends because its renewal was not paid.
    var lapsesAt: SimulatedTime?
    private(set) var history: [SubscriptionEvent] = []

    /// The owner and the offer after all pending grants.
    var finalOwner: (email: EmailAddress, offerId: OfferId, status: EntitlementStatus)? {
        if let last = pending.max() { return (last.email, last.offerId, last.status) }
        return owner.map { ($0.email, $0.offerId, $0.status) }
    }

    mutating func note(_ event: SubscriptionEvent) {
        if history.count == Self.historyLimit { history.removeFirst() }
        history.append(event)
    }
}

/// An event in a subscription's history.
struct SubscriptionEvent: Sendable {
    enum Kind: String, Sendable {
        /// First grant, or first one after termination.
        case created
        /// Another email posted the receipt: it gets a new subscription, and the old one is terminated.
        case transferred
        /// The same email posted the receipt for another offer: a new subscription replaces the old one.
        case upgraded
        /// Changed through the control API.
        case set
        /// Changed by a notification of the App Store.
        case notified
        /// Ended after an unpaid renewal.
        case lapsed
    }

    let at: SimulatedTime
    let kind: Kind
    let from: EmailAddress?
    let to: EmailAddress
    let offerId: OfferId
    let subscriptionId: Int
    let previousSubscriptionId: Int?
    let status: EntitlementStatus
}

/// Origin of a subscription, which decides the events that are sent.
enum SubscriptionOrigin: Sendable {
    /// A receipt was posted.
    case payment
    /// A StoreKit 2 purchase was registered or moved.
    case synchronization
    /// The control API.
    case hand
}

/// A payment that is not granted yet.
struct PendingGrant: AgendaEntry {
    /// Breaks ties between equal times in the order of arrival.
    let sequence: Int
    let grantAt: SimulatedTime
    let originalTransactionId: String
    let email: EmailAddress
    let offerId: OfferId
    let status: EntitlementStatus
    let expired: Bool
    let appType: String

    var dueAt: SimulatedTime { grantAt }

    static func < (left: PendingGrant, right: PendingGrant) -> Bool {
        (left.grantAt, left.sequence) < (right.grantAt, right.sequence)
    }

    static func == (left: PendingGrant, right: PendingGrant) -> Bool { left.sequence == right.sequence }
}

/// The end of a subscription with an unpaid renewal, unless a newer notification comes before.
struct Lapse: AgendaEntry {
    let dueAt: SimulatedTime
    let originalTransactionId: String

    static func < (left: Lapse, right: Lapse) -> Bool {
        (left.dueAt, left.originalTransactionId) < (right.dueAt, right.originalTransactionId)
    }
}

extension SimulatedCleeng {
    /// Accepts a well-formed payment. Its result shows later, in the entitlements.
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
        if behaviour.webhook.refuses { return publishRefusal(payment, afterMilliseconds: delay) }
        if let last = subscriptions[payment.subscription]?.finalOwner,
            last.email == email, last.offerId == payment.offerId,
            last.status.entitles || last.status == behaviour.status
        {
            // The same receipt from the same customer again: the subscription exists, so only an event follows.
            return scheduleRepeat(payment, afterMilliseconds: delay)
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
        // With zero delay, the grant is due at once.
        advance(to: now)
    }

    /// Applies a grant. The previous owner loses the subscription.
    mutating func grant(_ pending: PendingGrant) {
        let key = pending.originalTransactionId
        subscriptions[key]?.pending.removeAll { $0.sequence == pending.sequence }
        guard subscriptions[key] != nil, customers[pending.email] != nil else { return }
        if let owner = subscriptions[key]?.owner, owner.email == pending.email, owner.offerId == pending.offerId,
            owner.status.entitles
        {
            return publishRepeat(of: pending.email, pending.offerId, key)
        }
        let entitlement = Entitlement(
            subscriptionId: makeSubscriptionId(), originalTransactionId: key, offerId: pending.offerId,
            status: pending.status, grantedAt: pending.grantAt,
            expiresAt: expiry(expired: pending.expired, from: pending.grantAt), appType: pending.appType)
        establish(entitlement, for: pending.email, by: .payment)
    }

    /// Makes a new subscription the current one, and terminates the previous one if it is still running.
    mutating func establish(_ entitlement: Entitlement, for email: EmailAddress, by origin: SubscriptionOrigin) {
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
        publishNew(entitlement, of: email, after: previous, by: origin)
    }
}

extension SimulatedCleeng {
    /// Applies a notification about a subscription that was granted here. Notifications come in any order, so one older
    /// than the last applied one is ignored. Version 1 has no date and always counts.
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
            // A change of renewal does not restore ended access: a refund often turns renewal off too.
            guard owner.status.entitles else { return }
            change(key, to: isOn ? .active : .cancelled, until: nil, .notified, at: now)
        case .lapse(let end):
            let due = max(end, now)
            subscriptions[key]?.lapsesAt = due
            lapses.add(Lapse(dueAt: due, originalTransactionId: key))
            // An end in the past takes effect at once.
            lapse(until: now)
        case .grace:
            subscriptions[key]?.lapsesAt = nil
        }
    }

    /// Ends subscriptions whose unpaid renewal is due.
    mutating func lapse(until moment: SimulatedTime) {
        while let due = lapses.popDue(at: moment) {
            let key = due.originalTransactionId
            // A newer notification or grant has changed the end since.
            guard subscriptions[key]?.lapsesAt == due.dueAt else { continue }
            subscriptions[key]?.lapsesAt = nil
            guard subscriptions[key]?.owner?.status.entitles == true else { continue }
            change(key, to: .terminated, until: nil, .lapsed, at: due.dueAt)
        }
    }

    /// - Parameter end: nil keeps the known end.
    private mutating func change(
        _ key: String, to status: EntitlementStatus, until end: SimulatedTime?, _ kind: SubscriptionEvent.Kind,
        at moment: SimulatedTime
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
            publishEnd(of: owner.email, owner.offerId, subscriptionId: owner.subscriptionId, causedBy: owner.email)
        }
    }
}
