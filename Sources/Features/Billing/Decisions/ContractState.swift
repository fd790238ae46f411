import RelayCore

/// Status of a contract, derived from the ledgers of its subscriptions. Nil values are unknown or do not apply.
struct ContractState: Sendable, Hashable {
    /// Values of billwerk's API.
    enum Lifecycle: String, Sendable, CaseIterable {
        case active = "Active"
        case inTrial = "InTrial"
        /// The store could not collect the payment and keeps trying; access is withheld meanwhile.
        case paused = "Paused"
        case ended = "Ended"
    }

    /// A period of the contract with one product.
    struct Phase: Sendable, Hashable {
        enum Kind: String, Sendable {
            case normal = "Normal"
            case trial = "Trial"
            case inactive = "Inactive"
        }

        var kind: Kind
        var start: Timestamp
        /// Product with the store's prefix; nil if inactive.
        var product: String?
    }

    /// One subscription of the contract.
    struct Part: Sendable {
        var name: SubscriptionName
        var ledger: SubscriptionLedger
        /// Last published status; see ``SubscriptionLedger/purchases(of:shown:at:leeway:)``.
        var shown: SubscriptionState.Status?
    }

    var lifecycle = Lifecycle.ended
    var start: Timestamp?
    /// End of a contract that has ended or will not renew.
    var end: Timestamp?
    var paidUntil: Timestamp?
    var lastBilling: Timestamp?
    var nextBilling: Timestamp?
    var product: String?
    /// In order of time; the last one is the present phase.
    var phases: [Phase] = []

    /// Combines the subscriptions of a contract. The one that runs, or ran, longest counts: after an upgrade the old
    /// subscription ends by itself.
    ///
    /// - Parameter leeway: how long after a period's end a renewal may still be reported.
    init(_ parts: [Part], at now: Timestamp, leeway: Duration) {
        let known = parts.filter { $0.ledger.movedTo == nil }.compactMap { View($0, at: now, leeway: leeway) }
        guard let leading = known.max(by: { $0.rank < $1.rank }) else { return }
        lifecycle = leading.lifecycle
        product = leading.product
        start = known.compactMap(\.start).min()
        paidUntil = leading.state.expiresAt
        lastBilling = leading.period?.purchasedAt
        switch lifecycle {
        case .ended: end = leading.end
        case .active, .inTrial:
            if leading.state.willRenew == false { end = paidUntil } else { nextBilling = paidUntil }
        case .paused: break
        }
        phases = known.filter { $0.rank < leading.rank }.compactMap(\.phase).sorted { $0.start < $1.start }
        if let phase = leading.phase { phases.append(phase) }
        if lifecycle == .ended, let end { phases.append(Phase(kind: .inactive, start: end)) }
    }

    /// One subscription at the present time.
    private struct View {
        var state: SubscriptionState
        var period: LedgerPeriod?
        var platform: StorePlatform
        /// Published status. An expiry that the store has not confirmed does not count as an end.
        var status: SubscriptionState.Status

        init?(_ part: Part, at now: Timestamp, leeway: Duration) {
            guard let state = part.ledger.state(at: now, leeway: leeway) else { return nil }
            self.state = state
            period = part.ledger.current(at: now)
            platform = part.name.platform
            let isUnanswered = state.status == .expired && state.access == nil
            status = isUnanswered ? part.shown ?? .active : state.status
        }

        var lifecycle: Lifecycle {
            switch status {
            case .active, .inGrace: period?.isTrial == true ? .inTrial : .active
            case .inBillingRetry: .paused
            case .expired, .revoked: .ended
            }
        }

        var product: String? { state.productID.map(platform.prefixed) }
        var start: Timestamp? { period.map { $0.originalPurchasedAt ?? $0.purchasedAt } }
        var end: Timestamp? { period?.revocation?.at ?? state.expiresAt }
        var phase: Phase? {
            (period?.isTrial == true ? period?.purchasedAt : start).map {
                Phase(kind: period?.isTrial == true ? .trial : .normal, start: $0, product: product)
            }
        }

        var rank: (Int, Timestamp, Timestamp) {
            let order: Int =
                switch lifecycle {
                case .active, .inTrial: 2
                case .paused: 1
                case .ended: 0
                }
            return (order, state.expiresAt ?? .distantFuture, period?.purchasedAt ?? .earliest)
        }
    }
}
