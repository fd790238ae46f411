import RelayCore
import RelayStore

/// Asks Cleeng how subscriptions stand: of each customer once, however many they have.
struct SubscriptionInquiry: Sendable {
    /// What became of the question about one customer.
    enum Outcome: Sendable {
        case answered([Answer])
        /// Nobody may read this customer before then.
        case notBefore(Timestamp)
        /// Cleeng cannot be reached, or does not let us ask.
        case away
    }

    struct Answer: Sendable {
        var name: SubscriptionName
        var end: LedgerEnd

        var summary: String { end.isOver ? "Cleeng: not entitled" : "Cleeng: entitled" }
    }

    let store: RelayStore
    let upstreams: PerPublisher<Upstream>
    /// Between two entitlement reads of one customer.
    let interval: Duration

    /// - Parameter subscriptions: all of one customer's; those that nobody owns are left out.
    func ask(about subscriptions: [HeardSubscription]) async throws -> Outcome {
        let owned = subscriptions.compactMap { subscription in
            subscription.owner.map { (subscription: subscription, owner: $0) }
        }
        guard let first = owned.first else { return .answered([]) }
        guard let upstream = upstreams[first.subscription.name.publisher] else { return .away }
        // Where nothing else is to be read, this is what finds that Cleeng is well again.
        guard let pass = await upstream.enter(.reads, with: upstream.probe(on: .reads), atMost: .seconds(5)) else {
            return .away
        }
        defer { upstream.leave(pass) }
        let customer = CustomerKey(publisher: first.subscription.name.publisher, customer: first.owner.customer)
        guard let turn = try await store.takeReads(of: [customer], interval: interval)[customer] else { return .away }
        if let moment = turn { return .notBefore(moment) }
        let offers = Set(owned.map(\.owner.offerID))
        let answers = await upstream.entitlements(of: first.owner.email, offers: Array(offers), pass)
        if let pause = answers.values.first?.pauseOfRoute {
            try await store.holdReads(
                of: customer, for: min(pause, CircuitBreaker.Settings().longestHold), interval: interval)
        }
        var ends: [Answer] = []
        for (subscription, owner) in owned {
            let end: LedgerEnd
            switch answers[owner.offerID]?.verdict {
            case .entitled(let until, _):
                end = LedgerEnd(isOver: false, until: until, toldAt: subscription.heardAt)
            case .notEntitled: end = LedgerEnd(isOver: true, toldAt: subscription.heardAt)
            case .misconfigured, .tryAgain, nil: return .away
            }
            ends.append(Answer(name: subscription.name, end: end))
        }
        return .answered(ends)
    }
}
