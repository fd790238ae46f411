extension UpdatedLedger {
    /// When the subscription must be evaluated again. Nil if it moved: its new id is evaluated instead. If it is owned
    /// and this update lacks the new id, an asking caller evaluates the new id itself.
    public var dueAt: Timestamp? {
        guard ledger.movedTo == nil else {
            let isOwned = found.owner != nil || !message.statement.movesFrom.isEmpty
            return terms.asks && !isFollowed && isOwned ? found.now + terms.asksFor : nil
        }
        let now = found.now
        // An overdue recheck happens now. The next one follows after a pause, in case the store cannot be asked.
        let again = recheckAt.map { $0 > now ? $0 : now + min(terms.recheck, Self.overduePause) }
        guard let next = access.nextLookAt else { return again }
        let due = next > now ? next : now + (terms.asks ? terms.asksFor : Self.settling)
        return again.map { min($0, due) } ?? due
    }

    /// Whether a due question keeps its due time. Only the process that asks it, or a new statement of the store,
    /// postpones it.
    public var staysDue: Bool {
        guard !terms.asks, let next = access.nextLookAt, next <= found.now else { return false }
        let old = found.ledger
        return old.periods == ledger.periods && old.renewal == ledger.renewal && old.end == ledger.end
    }

    /// When to ask a store other than Apple's again, since its notification may have been lost; nil if never.
    ///
    /// A store without a list of revoked purchases is asked about each running purchase. A store with such a list is
    /// asked only about one that is unpaid, paused or will not renew: it may be paid late, resumed or turned on again.
    public var recheckAt: Timestamp? {
        // A late payment restores access, and its notification may be lost too.
        guard platform != .apple, !message.name.standsAlone, hasRenewalInfo, let state,
            state.status.grantsAccess || state.status == .inBillingRetry || isPaused
        else { return nil }
        if platform.listsVoided, state.status == .active, state.willRenew != false { return nil }
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

    private var platform: StorePlatform { StorePlatform(subscriptionKey: message.name.originalTransactionID) }

    private static let overduePause = Duration.seconds(3_600)
    /// Pause between a store's statement and the question to Cleeng, whose answer may not yet include the statement. An
    /// app that posts a purchase now also needs the customer's next read.
    private static let settling = Duration.seconds(10)
}
