import Logging
import Postgres
import RelayCore

/// Reads customers' entitlements for pursuits: at most one read per customer and interval, over all copies. One read
/// answers every pursuit that waits for the customer.
actor EntitlementReader {
    enum Outcome: Sendable {
        /// `siblings` are other pursuits that the same read has answered; this process has claimed them and must
        /// continue them.
        case answered(EntitlementAnswer, siblings: [(ClaimedPursuit, EntitlementAnswer)])
        /// The last read is too recent; the time is that of the next allowed read.
        case postponed(to: Timestamp)
        /// No read now: the route is shut.
        case shut
    }

    private struct Turn: Sendable {
        var nextAt: Timestamp?
        var siblings: [ClaimedPursuit]
        /// A time before the siblings were claimed.
        var claimedAt: ContinuousClock.Instant
    }

    private struct Waiting {
        var offer: OfferID
        /// Resumed with nil if this pursuit must ask again: the group closed before it joined, or its reader was cancelled.
        var continuation: CheckedContinuation<Outcome?, any Error>
    }

    private let store: RelayStore
    private let upstream: Upstream
    private let interval: Duration
    private let leases: PursuitLeases
    private let turns: PostgresBatcher<CustomerKey, Turn>
    /// Customers whose read is about to be sent, with the other pursuits that wait for it.
    private var gathering: [CustomerKey: [Waiting]] = [:]

    init(store: RelayStore, upstream: Upstream, leases: PursuitLeases, interval: Duration, lease: Duration) {
        self.store = store
        self.upstream = upstream
        self.interval = interval
        self.leases = leases
        let sizes = BatchSizes("reads")
        self.turns = PostgresBatcher(
            maxCount: 200, maxWaiting: 100_000, keys: { [$0] },
            flush: { customers in
                sizes.record(customers.count)
                let turns = try await store.purchases.takeReads(of: customers, interval: interval)
                let alike = customers.filter { turns[$0].map { $0.nextAt == nil && $0.hasSiblings } ?? false }
                let claimedAt = ContinuousClock.now
                let siblings = alike.isEmpty ? [] : try await store.purchases.claimSiblings(of: alike, lease: lease)
                let byCustomer = Dictionary(grouping: siblings) {
                    CustomerKey(publisher: $0.publisher, customer: $0.customer)
                }
                return customers.map { customer in
                    .success(
                        Turn(
                            nextAt: turns[customer]?.nextAt, siblings: byCustomer[customer] ?? [], claimedAt: claimedAt)
                    )
                }
            })
    }

    /// Reads the entitlement. First waits for permission to call, then takes the customer's turn. In the other order
    /// the turn would start before the wait, and the next read would follow too soon.
    ///
    /// - Parameter probe: used instead of waiting for permission, if it is for reads.
    /// - Throws: ``PostgresError`` if the database could not be asked for the customer's turn.
    func read(for claimed: ClaimedPursuit, probe: CallGate.Pass?) async throws -> Outcome {
        let customer = CustomerKey(publisher: claimed.publisher, customer: claimed.customer)
        while gathering[customer] != nil {
            let outcome: Outcome? = try await withCheckedThrowingContinuation { continuation in
                let waiting = Waiting(offer: claimed.offerID, continuation: continuation)
                if gathering[customer]?.append(waiting) == nil { continuation.resume(returning: nil) }
            }
            if let outcome { return outcome }
        }
        gathering[customer] = []
        guard let pass = await upstream.enter(.reads, with: probe) else {
            let outcome: Outcome? = Task.isCancelled ? nil : .shut
            for waiting in joined(customer) { waiting.continuation.resume(returning: outcome) }
            return .shut
        }
        defer { upstream.leave(pass) }
        let turn: Turn
        do {
            turn = try await turns.submit(customer)
        } catch {
            let isOwn = error is CancellationError
            for waiting in joined(customer) {
                waiting.continuation.resume(with: isOwn ? .success(nil) : .failure(error))
            }
            throw error
        }
        let joined = joined(customer)
        if let nextAt = turn.nextAt {
            for waiting in joined { waiting.continuation.resume(returning: .postponed(to: nextAt)) }
            return .postponed(to: nextAt)
        }
        // Held only now: if this read was cancelled meanwhile, no task continues them, and their leases must expire.
        leases.with { for sibling in turn.siblings { $0.hold(sibling.lease, since: turn.claimedAt) } }
        let offers = Set([claimed.offerID] + joined.map(\.offer) + turn.siblings.map(\.offerID))
        let answers = await upstream.entitlements(of: claimed.email, offers: Array(offers), pass)
        let isCut = Task.isCancelled
        for waiting in joined {
            waiting.continuation.resume(
                with: Result { isCut ? nil : .answered(try Self.answer(waiting.offer, in: answers), siblings: []) })
        }
        await storePause(answers.values.first, customer)
        do {
            return .answered(
                try Self.answer(claimed.offerID, in: answers),
                siblings: try turn.siblings.map { ($0, try Self.answer($0.offerID, in: answers)) })
        } catch {
            leases.with { for sibling in turn.siblings { $0.drop(sibling.lease) } }
            throw error
        }
    }

    /// The read before a forward. It uses no turn of the customer, and delays the forward by at most `limit`. A third
    /// of that may pass before it is sent.
    ///
    /// - Returns: nil if nothing could be read in time.
    func baseline(for claimed: ClaimedPursuit, within limit: Duration) async -> EntitlementAnswer? {
        guard let pass = await upstream.enter(.reads, atMost: limit / 3) else { return nil }
        defer { upstream.leave(pass) }
        let answers = await upstream.entitlements(
            of: claimed.email, offers: [claimed.offerID], timeout: limit * 2 / 3, pass)
        let answer = answers[claimed.offerID]
        await storePause(answer, CustomerKey(publisher: claimed.publisher, customer: claimed.customer))
        return answer
    }

    /// Result of asking Cleeng about a subscription's owner.
    enum OwnerReadResult: Sendable {
        case answered(OwnershipClaim.OwnerReading)
        /// Time of the next allowed read of that customer; nil: Cleeng could not be asked.
        case notBefore(Timestamp?)
    }

    /// Asks Cleeng whether a subscription's owner is still entitled, with the same limit of one read per interval.
    ///
    /// The owner's own purchases may be read every interval too, always just before this question. So it waits for the
    /// moment at which the owner may be read again, which is kept for it.
    ///
    /// - Parameter limit: time in which an answer is of use for the app that waits: until then Cleeng is asked again. Nil:
    ///   no app waits, and it is asked once.
    func read(_ owner: CurrentOwner, within limit: Duration? = nil) async throws -> OwnerReadResult {
        let end = limit.map { ContinuousClock.now + $0 }
        let patience = end ?? .now + interval + Self.slack
        while true {
            let left = patience - .now
            guard left > .zero else { return .notBefore(nil) }
            let outcome = try await readOnce(owner, within: end == nil ? nil : left)
            guard case .notBefore(let moment) = outcome, moment != nil || end != nil, let now = store.memory.clock.now
            else {
                return outcome
            }
            let wait = moment.map { max($0 - now, Self.shortestWait) } ?? interval
            guard ContinuousClock.now + wait < patience else { return outcome }
            try await Task.sleep(for: wait)
        }
    }

    /// This process's clock and the database's may differ a little.
    private static let slack = Duration.milliseconds(100)
    private static let shortestWait = Duration.milliseconds(5)

    private func readOnce(_ owner: CurrentOwner, within limit: Duration?) async throws -> OwnerReadResult {
        let place = limit.map { min($0, interval) } ?? interval
        // It may be the only call on the route.
        guard let pass = await upstream.enter(.reads, with: upstream.probe(on: .reads), atMost: place) else {
            return .notBefore(nil)
        }
        defer { upstream.leave(pass) }
        guard
            let turn = try await store.purchases.takeReads(of: [owner.key], interval: interval, waits: true)[owner.key]
        else { return .notBefore(nil) }
        if let moment = turn.nextAt { return .notBefore(moment) }
        let answer = await upstream.entitlements(
            of: owner.email, offers: [owner.offerID], timeout: limit, pass)[owner.offerID]
        await storePause(answer, owner.key)
        switch answer?.verdict {
        case .entitled: return .answered(.init(isEntitled: true, observedAt: answer?.observedAt ?? .earliest))
        case .notEntitled: return .answered(.init(isEntitled: false, observedAt: answer?.observedAt ?? .earliest))
        case .misconfigured, .tryAgain, nil: return .notBefore(nil)
        }
    }

    /// Removes and returns the waiters for this customer. The next one starts a new group.
    private func joined(_ customer: CustomerKey) -> [Waiting] {
        gathering.removeValue(forKey: customer) ?? []
    }

    /// Applies a `Retry-After` to all copies; to this one alone if it cannot be written.
    private func storePause(_ answer: EntitlementAnswer?, _ customer: CustomerKey) async {
        guard let pause = answer?.pauseOfRoute else { return }
        let bounded = min(pause, CircuitBreaker.Settings().longestHold)
        try? await store.purchases.holdReads(of: customer, for: bounded, interval: interval)
    }

    private static func answer(
        _ offer: OfferID, in answers: [OfferID: EntitlementAnswer]
    ) throws -> EntitlementAnswer {
        guard let answer = answers[offer] else { throw CancellationError() }
        return answer
    }
}
