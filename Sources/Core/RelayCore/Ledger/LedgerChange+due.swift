extension LedgerChange {
    /// When the subscription must be evaluated again. Nil if it moved and its owner went along (``isFollowed``): its new
    /// id is evaluated instead. An asking caller evaluates the new id itself.
    public var dueAt: Timestamp? {
        let now = found.now
        guard ledger.movedTo == nil else {
            guard !isFollowed else { return nil }
            // A grant under a former id goes on to the present one.
            if terms.grantsAskedAt != nil { return now }
            // What an asking caller evaluates stays due until it has asked. What the answer links to is due now.
            if isOnlyLinked { return terms.asks && message.statement.movesTo == nil ? nil : now }
            if terms.asks { return isOwned ? now + terms.asksFor : nil }
            let isNews = ledger.movedTo != found.ledger.movedTo || ledger.movedFrom != found.ledger.movedFrom
            return isOwned && isNews ? now : nil
        }
        if let asked = terms.grantsAskedAt {
            // What the new owner was granted on it before was not read.
            if found.isTransfer { return now }
            // Cleeng's answer about other offers includes its own grant.
            let asksStore = isUnreported && asked.contains(message.name.platform) && !message.name.isOnlyNamed
            if isToBeAsked || asksStore || recheckAt.map({ $0 <= now }) ?? false { return now }
        }
        // An overdue recheck happens now. The next one follows after a pause, in case the store cannot be asked.
        let again = recheckAt.map { $0 > now ? $0 : now + min(terms.recheck, Self.overduePause) }
        guard let next = access.nextLookAt else { return again }
        let due = next > now ? next : now + (terms.asks ? terms.asksFor : Self.settling)
        return again.map { min($0, due) } ?? due
    }

    /// Whether a due subscription keeps its due time: an open question stays due until its worker asks it, or the store
    /// states something new.
    public var staysDue: Bool {
        // Until its owner went along to the new id.
        if ledger.movedTo != nil { return !isFollowed && (!terms.asks || isOnlyLinked) }
        guard !terms.asks, let next = access.nextLookAt, next <= found.now else { return false }
        let old = found.ledger
        return old.periods == ledger.periods && old.renewal == ledger.renewal && old.end == ledger.end
    }

    /// Whether it has an owner, or the owner of a former id may come to it.
    private var isOwned: Bool { found.owner != nil || !ledger.movedFrom.isEmpty }

    /// Whether it has moved, and only the store knows whether a customer's purchase moved here first.
    public var isOnlyLinked: Bool { ledger.isOnlyLinked && found.owner == nil }

    /// When to ask a store other than Apple's again, since its notification may have been lost; nil if never.
    ///
    /// A store without a list of revoked purchases is asked about each running purchase. A store with such a list is
    /// asked only about one that is unpaid, paused or will not renew: it may be paid late, resumed or turned on again.
    public var recheckAt: Timestamp? {
        // A late payment restores access, and its notification may be lost too.
        guard message.name.platform != .apple, !message.name.standsAlone, hasRenewalInfo, let state,
            state.status.grantsAccess || state.status == .inBillingRetry || isPaused
        else { return nil }
        if message.name.platform.listsVoided, state.status == .active, state.willRenew != false { return nil }
        let statements = ledger.periods.values.map(\.statedAt) + (ledger.renewal.map { [$0.statedAt] } ?? [])
        guard let last = statements.max() else { return nil }
        let again = last + terms.recheck
        // A subscription is asked about once more before its access ends: it may have been turned on again, or paid.
        let end: Timestamp? =
            switch state.status {
            case .active where state.willRenew == false: state.expiresAt
            case .inGrace: state.changesAt
            default: nil
            }
        guard let end, last < end - Self.lastLook else { return again }
        return min(again, end - Self.lastLook)
    }

    /// Whether the store's last answer says that the subscription is over now and will renew.
    private var isPaused: Bool {
        guard let end = ledger.end, let renewal = ledger.renewal else { return false }
        return end.isOver && renewal.willRenew == true && renewal.statedAt == end.statedAt
    }

    /// How long before access ends a subscription that may not renew is asked about for the last time.
    private static let lastLook = Duration.seconds(3_600)

    private static let overduePause = Duration.seconds(3_600)
    /// Pause between a store's statement and the question to Cleeng, whose answer may not yet include the statement. An
    /// app that posts a purchase now also needs the customer's next read.
    private static let settling = Duration.seconds(10)
}
