extension SubscriptionLedger {
    /// How long Apple retries a failed payment (App Store Connect Help, "billing retry").
    private static let billingRetry = Duration.seconds(60 * 86_400)
    /// How long before a period's end its renewal is charged: a day, as Apple documents, and a margin. A statement from
    /// before that about a failed payment concerns an earlier payment.
    private static let earlyCharge = Duration.seconds(2 * 86_400)

    /// Status at a moment. Nil if neither a purchase nor an end statement is known. For an unreadable purchase only the
    /// end statement is known, and it alone decides.
    ///
    /// - Parameter leeway: how long after its end a subscription counts as renewed although no statement reports the
    ///   renewal.
    public func state(at now: Timestamp, leeway: Duration) -> SubscriptionState? {
        guard let period = current(at: now) else {
            return said(of: nil).map { end in
                var state = SubscriptionState(
                    status: .active, willRenew: renewal?.willRenew, autoRenewProductID: renewal?.productID)
                judge(&state, by: end, at: now, leeway: leeway)
                return state
            }
        }
        guard period.revocation == nil else { return revoked(period) }
        let said = said(of: period)
        // An end statement no older than the period's own statement takes precedence over the period's dates.
        let isOver = said?.ends(period) ?? false
        var state = SubscriptionState(
            status: .active, willRenew: willRenew(period), expiresAt: period.expiresAt, productID: period.productID,
            autoRenewProductID: renewal?.productID)
        guard !isOver else {
            if let said, let end = successorsTime(after: period, said), end > now {
                (state.expiresAt, state.changesAt) = (end, end)
            } else {
                expire(&state)
            }
            return state
        }
        guard period.expiresAt != nil else {
            // The store states no end of the period. Cleeng may state one.
            if let said { judge(&state, by: said, at: now, leeway: leeway) }
            return state
        }
        guard period.end <= now else {
            state.changesAt = period.expiresAt
            if hasMore(after: period) { state.lookUpAt = period.expiresAt.map { $0 + leeway } }
            return state
        }
        judge(&state, period, said, at: now, leeway: leeway)
        return state
    }

    /// Latest statement whether a period runs: the store's, or Cleeng's about the offer of its product.
    func said(of period: LedgerPeriod?) -> LedgerEnd? {
        [end, offer(of: period).flatMap { cleeng[$0] }].compactMap(\.self).max { $0.rank < $1.rank }
    }

    /// Judges a period without an end from the store by the latest end statement alone. Cleeng is asked again at
    /// ``LedgerEnd/asksAgainAt(leeway:)``.
    private func judge(
        _ state: inout SubscriptionState, by said: LedgerEnd, at now: Timestamp, leeway: Duration
    ) {
        guard !said.isOver else { return expire(&state) }
        let next = said.asksAgainAt(leeway: leeway)
        if let until = said.until, until > now { state.expiresAt = until }
        state.lookUpAt = next
        if next > now { state.changesAt = next } else { expire(&state) }
    }

    /// How long an end by replacement is no end: the store or the app reports the successor within that time.
    private static let succession = Duration.seconds(60)

    /// End of the time for a successor, if the store ended the subscription because another replaced it.
    private func successorsTime(after period: LedgerPeriod, _ said: LedgerEnd) -> Timestamp? {
        guard let replacedAt, let end, said == end, renewal?.cancelationReason == .replaced else { return nil }
        // The store may be asked for the first time long after the end.
        return min(replacedAt, period.end) + Self.succession
    }

    /// The period that decides the status; a revoked one if no other counts. Nil if no purchase is known.
    func current(at now: Timestamp) -> LedgerPeriod? {
        let listed = items == nil ? periods : periods.filter { isListed($0.value) }
        let periods = listed.isEmpty ? periods : listed
        guard let newest = newest(of: periods.values) else { return nil }
        // An upgraded period counts as long as its successor is unknown.
        let counting = periods.values.filter { counts($0) || ($0.id == newest.id && newest.revocation == nil) }
        guard let period = counting.max(by: Self.endsEarlier) else { return newest }
        guard newest.revocation == nil || (period.end > now && !(said(of: period)?.ends(period) ?? false)) else {
            return newest
        }
        return period
    }

    /// The newest period. A refunded item gives way to another item with the same dates that was not refunded.
    private func newest(of periods: some Collection<LedgerPeriod>) -> LedgerPeriod? {
        guard let newest = periods.max(by: Self.isOlder) else { return nil }
        guard newest.revocation != nil, let items, items.contains(newest.productID) else { return newest }
        let others = periods.filter {
            $0.revocation == nil && items.contains($0.productID) && $0.purchasedAt == newest.purchasedAt
                && $0.end == newest.end
        }
        return others.max(by: Self.isOlder) ?? newest
    }

    /// Judges a period whose end date has passed. Later statements may still continue it.
    private func judge(
        _ state: inout SubscriptionState, _ period: LedgerPeriod, _ end: LedgerEnd?, at now: Timestamp,
        leeway: Duration
    ) {
        let said = renewal.flatMap { $0.statedAt >= period.isKnownFrom ? $0 : nil }
        if let grace = said?.graceUntil, grace > now {
            state.status = .inGrace
            state.changesAt = grace
            return
        }
        // Not compared with `period.statedAt`: a receipt made after the period's end only repeats the period.
        if let end, end.isOver, end.statedAt >= period.purchasedAt, end.reaches(period),
            end.statedAt >= said?.statedAt ?? end.statedAt
        {
            return expire(&state)
        }
        // A statement made after the period's end that the subscription runs continues it, for the leeway of a renewal.
        let goesOn = end.flatMap {
            !$0.isOver && $0.statedAt >= period.end ? max($0.statedAt, $0.until ?? $0.statedAt) : nil
        }
        let retryEnd = period.end + Self.billingRetry
        let isRetried =
            said.map {
                $0.isInBillingRetry && $0.statedAt + Self.earlyCharge >= period.end
                    && (goesOn == nil || $0.statedAt >= end?.statedAt ?? $0.statedAt)
            } ?? false
        if isRetried, retryEnd > now {
            state.status = .inBillingRetry
            state.changesAt = retryEnd
            return
        }
        let isAwaited = hasMore(after: period) || goesOn != nil
        let patience = max(period.end, goesOn ?? period.end) + leeway
        if isAwaited, !isRetried, patience > now {
            if let end, goesOn != nil, let until = end.until, until > max(period.end, now) {
                state.expiresAt = until
            }
            state.changesAt = patience
            state.lookUpAt = patience
            return
        }
        expire(&state)
        if isAwaited { state.lookUpAt = patience }
    }

    private func expire(_ state: inout SubscriptionState) {
        state.status = .expired
        state.reason = "expired"
    }

    /// Whether a renewal may follow that no statement has reported yet.
    private func hasMore(after period: LedgerPeriod) -> Bool {
        guard period.expiresAt != nil else { return false }
        guard let said = renewal, said.statedAt >= period.isKnownFrom else { return true }
        return willRenew(period) != false && said.expirationIntent == nil
    }

    /// Whether a period's product renews, by the newest statement; nil if not stated.
    func willRenew(_ period: LedgerPeriod) -> Bool? {
        guard let said = renewal, said.statedAt > period.statedAt else { return period.renews ?? renewal?.willRenew }
        return said.willRenew
    }

    private func revoked(_ period: LedgerPeriod) -> SubscriptionState {
        SubscriptionState(
            status: .revoked, willRenew: renewal?.willRenew, expiresAt: period.expiresAt, productID: period.productID,
            autoRenewProductID: renewal?.productID,
            reason: period.revocation?.kind == .familyRevoked ? "family_revoked" : "refunded")
    }

    /// Whether it was neither revoked nor ended by an upgrade.
    private func counts(_ period: LedgerPeriod) -> Bool {
        period.revocation == nil && !period.isUpgraded
            && !periods.values.contains {
                $0.replacesEarlier && $0.id != period.id
                    // Times are whole seconds: an upgrade may have the same second as the period it replaces.
                    && ($0.purchasedAt > period.purchasedAt
                        || $0.purchasedAt == period.purchasedAt && !period.replacesEarlier)
            }
    }

    static func isOlder(_ left: LedgerPeriod, _ right: LedgerPeriod) -> Bool {
        (left.purchasedAt, left.end, left.statedAt, left.id)
            < (right.purchasedAt, right.end, right.statedAt, right.id)
    }

    private static func endsEarlier(_ left: LedgerPeriod, _ right: LedgerPeriod) -> Bool {
        (left.end, left.purchasedAt, left.id) < (right.end, right.purchasedAt, right.id)
    }
}
