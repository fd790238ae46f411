import Logging
import Postgres
import RelayCore
import RelayStore

/// Where pursuits ask for an entitlement read: at most one a customer in an interval, over all copies; one read serves
/// everybody who waits for that customer.
actor ReadDesk {
    enum Outcome: Sendable {
        /// `siblings` are other pursuits that the same read has answered: claimed, held, and to be gone on with.
        case answered(EntitlementAnswer, siblings: [(ClaimedPursuit, EntitlementAnswer)])
        /// Read too recently: from then on it may be read again.
        case postponed(to: Timestamp)
    }

    private struct Turn: Sendable {
        var nextAt: Timestamp?
        var siblings: [ClaimedPursuit]
    }

    private struct Waiting {
        var offer: String
        var continuation: CheckedContinuation<Outcome, any Error>
    }

    private let upstream: Upstream
    private let turns: PostgresBatcher<CustomerKey, Turn>
    /// Customers whose read is about to be sent, with who else wants it.
    private var gathering: [CustomerKey: [Waiting]] = [:]

    init(store: RelayStore, upstream: Upstream, leases: LeaseKeeper, interval: Duration, lease: Duration) {
        self.upstream = upstream
        self.turns = PostgresBatcher(
            maxCount: 200, concurrentBatches: 2, maxWaiting: 100_000, key: { AnyHashable($0) },
            flush: { customers in
                let nextAt = try await store.takeReads(of: customers, interval: interval)
                let winners = customers.filter { nextAt[$0] == .some(nil) }
                let claimedAt = ContinuousClock.now
                let siblings = winners.isEmpty ? [] : try await store.claimSiblings(of: winners, lease: lease)
                for sibling in siblings { leases.hold(sibling, since: claimedAt) }
                let byCustomer = Dictionary(grouping: siblings) {
                    CustomerKey(publisher: $0.publisher, customer: $0.customer)
                }
                return customers.map { customer in
                    .success(Turn(nextAt: nextAt[customer] ?? nil, siblings: byCustomer[customer] ?? []))
                }
            })
    }

    /// - Throws: ``PostgresError`` where the right to read could not be asked for.
    func read(for claimed: ClaimedPursuit) async throws -> Outcome {
        let customer = CustomerKey(publisher: claimed.publisher, customer: claimed.customer)
        if gathering[customer] != nil {
            return try await withCheckedThrowingContinuation { continuation in
                gathering[customer]?.append(Waiting(offer: claimed.offerID, continuation: continuation))
            }
        }
        gathering[customer] = []
        let turn: Turn
        do {
            turn = try await turns.submit(customer)
        } catch {
            for waiting in gathering.removeValue(forKey: customer) ?? [] {
                waiting.continuation.resume(throwing: error)
            }
            throw error
        }
        let joined = gathering.removeValue(forKey: customer) ?? []
        if let nextAt = turn.nextAt {
            for waiting in joined { waiting.continuation.resume(returning: .postponed(to: nextAt)) }
            return .postponed(to: nextAt)
        }
        let offers = Set([claimed.offerID] + joined.map(\.offer) + turn.siblings.map(\.offerID))
        let answers = await upstream.entitlements(of: claimed.email, offers: Array(offers))
        for waiting in joined {
            waiting.continuation.resume(
                with: Result { .answered(try Self.answer(waiting.offer, in: answers), siblings: []) })
        }
        return .answered(
            try Self.answer(claimed.offerID, in: answers),
            siblings: try turn.siblings.map { ($0, try Self.answer($0.offerID, in: answers)) })
    }

    private static func answer(
        _ offer: String, in answers: [String: EntitlementAnswer]
    ) throws -> EntitlementAnswer {
        guard let answer = answers[offer] else { throw CancellationError() }
        return answer
    }

    func drain() async {
        await turns.drain()
    }
}
