import RelayCore

/// Asks Cleeng for the status of subscriptions, once for each customer.
struct SubscriptionInquiry: Sendable {
    /// Result of the question about one customer.
    enum Outcome: Sendable {
        /// Without the subscriptions whose offers Cleeng said nothing clear about.
        case answered([Answer])
        /// No copy may read this customer before then.
        case notBefore(Timestamp)
        /// Cleeng is unreachable, or refuses the request.
        case away
    }

    struct Answer: Sendable {
        var name: SubscriptionName
        /// Customer whose entitlements Cleeng returned.
        var owner: CustomerID
        var cleeng: [OfferID: LedgerEnd]

        var summary: String {
            cleeng.sorted { $0.key < $1.key }.map { offer, end in
                "Cleeng: \(end.isOver ? "not entitled" : "entitled") to \(offer)"
            }.joined(separator: "; ")
        }
    }

    /// One subscription, with the offers to ask Cleeng about.
    struct Question: Sendable {
        var subscription: LedgerView
        var offers: Set<OfferID>
    }

    let store: RelayStore
    let upstreams: PerPublisher<Upstream>
    /// Time between two entitlement reads of one customer.
    let interval: Duration

    /// - Parameter questions: all of one customer; subscriptions without an owner are left out.
    func ask(_ questions: [Question]) async throws -> Outcome {
        let owned = questions.compactMap { question in
            question.subscription.owner.map {
                (subscription: question.subscription, offers: question.offers, owner: $0)
            }
        }
        let offers = owned.reduce(into: Set<OfferID>()) { $0.formUnion($1.offers) }
        guard let first = owned.first, !offers.isEmpty else { return .answered([]) }
        let customer = CustomerKey(publisher: first.subscription.name.publisher, customer: first.owner.customer)
        return
            switch try await read(customer, first.owner.email, offers, at: first.subscription.updatedAt, waits: true)
        {
        case .answered(let ends):
            .answered(
                owned.compactMap { one in
                    let cleeng = ends.filter { one.offers.contains($0.key) }
                    guard !cleeng.isEmpty else { return nil }
                    return Answer(name: one.subscription.name, owner: one.owner.customer, cleeng: cleeng)
                })
        case .notBefore(let moment): .notBefore(moment)
        case .away: .away
        }
    }

    /// Result of reading one customer.
    enum Reading: Sendable {
        /// The clear answers, at least one.
        case answered([OfferID: LedgerEnd])
        case notBefore(Timestamp)
        case away
    }

    /// Reads a customer's entitlements from Cleeng, in the customer's turn.
    ///
    /// - Parameters:
    ///   - moment: not later than the current time of the database's clock.
    ///   - timeout: overrides the configured one.
    ///   - waits: whether the caller comes again at its turn.
    func read(
        _ customer: CustomerKey, _ email: EmailAddress, _ offers: Set<OfferID>, at moment: Timestamp,
        timeout: Duration? = nil, waits: Bool
    ) async throws -> Reading {
        guard let upstream = upstreams[customer.publisher] else { return .away }
        // This may be the only call on the route, so it also serves as the probe for Cleeng's recovery.
        guard let pass = await upstream.enter(.reads, with: upstream.probe(on: .reads), atMost: .seconds(5)) else {
            return .away
        }
        defer { upstream.leave(pass) }
        guard let turn = try await store.purchases.takeReads(of: [customer], interval: interval, waits: waits)[customer]
        else { return .away }
        if let moment = turn.nextAt { return .notBefore(moment) }
        let answers = await upstream.entitlements(of: email, offers: Array(offers), timeout: timeout, pass)
        if let pause = answers.values.first?.pauseOfRoute {
            try await store.purchases.holdReads(
                of: customer, for: min(pause, CircuitBreaker.Settings().longestHold), interval: interval)
        }
        var ends: [OfferID: LedgerEnd] = [:]
        for offer in offers {
            switch answers[offer]?.verdict {
            case .entitled(nil, _) where answers[offer]?.namesEnds == false: ends[offer] = .runs(statedAt: moment)
            case .entitled(let until, _): ends[offer] = LedgerEnd(isOver: false, until: until, statedAt: moment)
            case .notEntitled: ends[offer] = LedgerEnd(isOver: true, statedAt: moment)
            // An unclear answer about one offer leaves those about the others.
            case .misconfigured, .tryAgain, nil: continue
            }
        }
        return ends.isEmpty ? .away : .answered(ends)
    }
}
