extension SubscriptionLedger {
    /// Applies what Apple's own names for an id state by now, for a purchase to which only an app gave it. What they
    /// stated earlier is replaced: a refund may have been reversed.
    public mutating func end(by namesakes: [SubscriptionLedger], at now: Timestamp, leeway: Duration) {
        forgetPeriods()
        for ending in namesakes.compactMap({ $0.ending(at: now, leeway: leeway) }) { apply(ending) }
    }

    /// What Apple stated that ends access, for a purchase to which only an app gave this id (``SubscriptionName/isOnlyNamed``).
    /// Nil while Apple has the subscription run, or says nothing about it: then it changes nothing of that purchase.
    ///
    /// - Parameter leeway: see ``state(at:leeway:)``.
    func ending(at now: Timestamp, leeway: Duration) -> LedgerStatement? {
        var stated = self
        stated.forgetCleeng()
        guard let state = stated.state(at: now, leeway: leeway) else { return nil }
        switch state.status {
        case .revoked:
            return LedgerStatement(
                periods: periods.values.filter { $0.revocation != nil }.sorted { $0.id < $1.id })
        case .expired where state.lookUpAt == nil:
            let last = end.flatMap { $0.isOver ? $0.statedAt : nil } ?? state.expiresAt
            return last.map { .over(statedAt: $0) }
        case .expired, .active, .inGrace, .inBillingRetry: return nil
        }
    }
}
