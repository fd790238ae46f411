extension SubscriptionLedger {
    /// Status at a moment. Nil if neither a purchase nor an end statement is known. For an unreadable purchase only the
    /// end statement is known, and it alone decides. ``StateRule`` has the rules.
    ///
    /// - Parameter leeway: how long after its end a subscription counts as renewed although no statement reports the
    ///   renewal.
    public func state(at now: Timestamp, leeway: Duration) -> SubscriptionState? {
        decision(at: now, leeway: leeway)?.state
    }

    /// The status with the rule that decides.
    func decision(at now: Timestamp, leeway: Duration) -> (rule: StateRule, state: SubscriptionState)? {
        guard let moment = LedgerMoment(self, at: now, leeway: leeway) else { return nil }
        for rule in StateRule.all {
            if let state = rule.state(moment) { return (rule, state) }
        }
        return nil
    }

    /// Latest statement whether a period runs: the store's, or Cleeng's about the offer of its product.
    func said(of period: LedgerPeriod?) -> LedgerEnd? {
        [end, offer(of: period).flatMap { cleeng[$0] }].compactMap(\.self).max { $0.rank < $1.rank }
    }

    /// The period that decides the status; a revoked one if no other counts. Nil if no purchase is known.
    package func current(at now: Timestamp) -> LedgerPeriod? {
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

    /// Whether a period's product renews, by the newest statement; nil if not stated.
    func willRenew(_ period: LedgerPeriod) -> Bool? {
        guard let said = renewal, said.statedAt > period.statedAt else { return period.renews ?? renewal?.willRenew }
        return said.willRenew
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
