extension UpdatedLedger {
    /// When the subscription must be evaluated again; nil if it moved, since its new id is then evaluated. An owner's is
    /// due until an update has evaluated both.
    public var dueAt: Timestamp? {
        guard ledger.movedTo == nil else {
            let isOwned = found.owner != nil || !message.statement.movesFrom.isEmpty
            return terms.asks && !isFollowed && isOwned ? found.now + Self.asking : nil
        }
        let now = found.now
        // An overdue recheck happens now. The pause prevents constant retries if the store cannot be asked.
        let again = recheckAt.map { $0 > now ? $0 : now + min(terms.recheck, Self.overduePause) }
        guard let next = access.nextLookAt else { return again }
        let due = next > now ? next : now + (terms.asks ? Self.asking : Self.settling)
        return again.map { min($0, due) } ?? due
    }

    /// Whether a due question keeps its due time. Only the process that asks may postpone it, or new statements of the
    /// store.
    public var staysDue: Bool {
        guard !terms.asks, let next = access.nextLookAt, next <= found.now else { return false }
        let old = found.ledger
        return old.periods == ledger.periods && old.renewal == ledger.renewal && old.end == ledger.end
    }

    /// When to ask a store other than Apple's again, since its notification may have been lost; nil if never.
    ///
    /// A store that does not list revoked purchases is asked about each purchase that runs. One that lists them is asked
    /// about a subscription that does not simply renew: it may be turned on again, paid late or resumed.
    public var recheckAt: Timestamp? {
        // A late payment restores access, and its notification may be lost too.
        guard platform != .apple, !message.name.standsAlone, hasRenewalInfo, let standing,
            standing.status.grantsAccess || standing.status == .inBillingRetry
        else { return nil }
        if platform.listsVoided, standing.status == .active, standing.willRenew != false { return nil }
        let statements = ledger.periods.values.map(\.statedAt) + (ledger.renewal.map { [$0.statedAt] } ?? [])
        guard let last = statements.max() else { return nil }
        let again = last + terms.recheck
        // Before a canceled subscription ends, in case it was turned on again.
        guard platform.listsVoided, standing.status == .active, let end = standing.expiresAt,
            last < end - Self.lastLook
        else { return again }
        return min(again, end - Self.lastLook)
    }

    /// How long before its end a canceled subscription is asked about for the last time.
    private static let lastLook = Duration.seconds(3_600)

    private var platform: StorePlatform { StorePlatform(subscriptionKey: message.name.originalTransactionID) }

    private static let overduePause = Duration.seconds(3_600)
    /// Time after a store's statement before the relay asks Cleeng. Cleeng may not know the statement yet, and the
    /// relay would store its old answer. The app may also post a purchase now, which needs the customer's next read.
    private static let settling = Duration.seconds(10)
    /// Time that a caller has for asking.
    private static let asking = Duration.seconds(60)
}
