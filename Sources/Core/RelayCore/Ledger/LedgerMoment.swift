/// A ledger at a moment, with what the rules for its status look at (``StateRule``).
struct LedgerMoment: Sendable {
    let ledger: SubscriptionLedger
    let now: Timestamp
    let leeway: Duration
    /// The period that decides; nil for an unreadable purchase.
    let period: LedgerPeriod?
    /// Latest statement whether the period runs: the store's, or Cleeng's about the offer of its product.
    let said: LedgerEnd?

    /// How long Apple retries a failed payment (App Store Connect Help, "billing retry").
    private static let billingRetry = Duration.seconds(60 * 86_400)
    /// How long before a period's end its renewal is charged: a day, as Apple documents, and a margin. A statement from
    /// before that about a failed payment concerns an earlier payment.
    private static let earlyCharge = Duration.seconds(2 * 86_400)
    /// How long an end by replacement is no end: the store or the app reports the successor within that time.
    private static let succession = Duration.seconds(60)

    /// Nil if neither a purchase nor an end statement is known.
    init?(_ ledger: SubscriptionLedger, at now: Timestamp, leeway: Duration) {
        self.ledger = ledger
        self.now = now
        self.leeway = leeway
        period = ledger.current(at: now)
        said = ledger.said(of: period)
        if period == nil, said == nil { return nil }
    }

    /// End of the period, as its store states it.
    var end: Timestamp? { period?.expiresAt }

    /// The newest statement about the renewal, if it is about this period.
    var renewal: LedgerRenewal? {
        guard let period, let said = ledger.renewal, said.statedAt >= period.isKnownFrom else { return nil }
        return said
    }

    /// Whether an end statement is no older than the period's own. Then it takes precedence over the period's dates.
    var isEnded: Bool { period.flatMap { said?.ends($0) } ?? false }

    /// End of the time for a successor, if the store ended the subscription because another replaced it.
    var successorsTime: Timestamp? {
        guard let period, let replacedAt = ledger.replacedAt, let end = ledger.end, said == end,
            ledger.renewal?.cancelationReason == .replaced
        else { return nil }
        // The store may be asked for the first time long after the end.
        return min(replacedAt, period.end) + Self.succession
    }

    /// Whether a renewal may follow that no statement has reported yet.
    var mayRenew: Bool {
        guard let period, period.expiresAt != nil else { return false }
        guard let renewal else { return true }
        return ledger.willRenew(period) != false && renewal.expirationIntent == nil
    }

    /// Until when a statement made after the period's end continues it.
    var goesOnUntil: Timestamp? {
        guard let end, let said, !said.isOver, said.statedAt >= end else { return nil }
        return max(said.statedAt, said.until ?? said.statedAt)
    }

    /// Whether the store said last that it retries the payment of the renewal.
    var isRetried: Bool {
        guard let end, let renewal, renewal.isInBillingRetry, renewal.statedAt + Self.earlyCharge >= end else {
            return false
        }
        return goesOnUntil == nil || renewal.statedAt >= said?.statedAt ?? renewal.statedAt
    }

    var retryEnd: Timestamp? { end.map { $0 + Self.billingRetry } }
    var isAwaited: Bool { mayRenew || goesOnUntil != nil }
    /// Until when it counts as renewed.
    var patience: Timestamp? { end.map { max($0, goesOnUntil ?? $0) + leeway } }

    // MARK: States

    var active: SubscriptionState { state(.active) }

    func active(until end: Timestamp?, changesAt: Timestamp, lookUpAt: Timestamp? = nil) -> SubscriptionState {
        state(.active, until: end, changesAt: changesAt, lookUpAt: lookUpAt)
    }

    var expired: SubscriptionState { expired(until: end, lookUpAt: nil) }

    func expired(until end: Timestamp?, lookUpAt: Timestamp?) -> SubscriptionState {
        state(.expired, until: end, lookUpAt: lookUpAt, reason: "expired")
    }

    var revoked: SubscriptionState {
        var state = state(
            .revoked, until: end,
            reason: period?.revocation?.kind == .familyRevoked ? "family_revoked" : "refunded")
        state.willRenew = ledger.renewal?.willRenew
        return state
    }

    func state(_ status: SubscriptionState.Status, changesAt: Timestamp? = nil) -> SubscriptionState {
        state(status, until: end, changesAt: changesAt)
    }

    private func state(
        _ status: SubscriptionState.Status, until end: Timestamp?, changesAt: Timestamp? = nil,
        lookUpAt: Timestamp? = nil, reason: String? = nil
    ) -> SubscriptionState {
        SubscriptionState(
            status: status, willRenew: period.map { ledger.willRenew($0) } ?? ledger.renewal?.willRenew, expiresAt: end,
            productID: period?.productID, autoRenewProductID: ledger.renewal?.productID, reason: reason,
            changesAt: changesAt, lookUpAt: lookUpAt)
    }
}
