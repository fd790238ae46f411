public import Logging
import Metrics
import NIOConcurrencyHelpers
public import RelayCore

/// Asks Cleeng for a customer's entitlements, on request of an app or publisher.
///
///     owned subscriptions ──► Cleeng, in the customer's turn ──► each ledger records the answers on its offers
///                                                           └──► others are stored as entitlements alone
public final class CustomerInquiry: CustomerInquirer {
    private let store: RelayStore
    private let inquiry: SubscriptionInquiry
    private let logger: Logger
    private let places = NIOLockedValueBox(SharedPlaces<PublisherID>(total: 32, each: 8, reserved: 8))

    private static let mostOffers = 100
    private static let timeout = Duration.seconds(5)

    /// - Parameters:
    ///   - interval: time between two entitlement reads of one customer.
    public init(
        store: RelayStore, upstreams: PerPublisher<Upstream>, interval: Duration, logger: Logger
    ) {
        self.store = store
        inquiry = SubscriptionInquiry(store: store, upstreams: upstreams, interval: interval)
        self.logger = logger
    }

    public func ask(
        about customer: CustomerEmail, offer: OfferID?, of publisher: PublisherID, patience: Duration
    ) async throws -> CustomerInquiryOutcome {
        // Pursuits, for which apps wait, use the same connections. So these reads are limited.
        guard places.withLockedValue({ $0.enter(publisher) }) else { return count(.away) }
        defer { places.withLockedValue { $0.leave(publisher) } }
        let end = ContinuousClock.now + patience
        while true {
            let (outcome, turn) = try await askOnce(customer, offer, publisher)
            guard outcome == .tooSoon, let now = store.memory.clock.now, let turn else { return count(outcome) }
            let pause = max(turn - now, .zero) + .milliseconds(10)
            guard ContinuousClock.now + pause < end else { return count(outcome) }
            try await Task.sleep(for: pause)
        }
    }

    private func count(_ outcome: CustomerInquiryOutcome) -> CustomerInquiryOutcome {
        Counter(label: "relay_live_reads", dimensions: [("outcome", outcome.rawValue)]).increment()
        return outcome
    }

    /// - Returns: with ``CustomerInquiryOutcome/tooSoon``, the time from which the customer may be read.
    private func askOnce(
        _ customer: CustomerEmail, _ offer: OfferID?, _ publisher: PublisherID
    ) async throws -> (CustomerInquiryOutcome, turn: Timestamp?) {
        let key = CustomerKey(publisher: publisher, customer: customer.customer)
        let known = try await store.subscriptions.owned(by: key)
        guard !known.hasPending else { return (.pending, nil) }
        let owned = try await store.subscriptions.record(known.subscriptions.map { LedgerMessage($0) })
            .filter { $0.owner?.customer == customer.customer }
        let offers = offers(offer, owned, publisher)
        guard !offers.isEmpty else { return (.asked, nil) }
        guard let moment = store.memory.clock.noLaterThanNow else { return (.away, nil) }
        // Cleeng knows an owner by the email of the granted purchase, which may be spelled differently.
        let email = owned.first?.owner?.email ?? customer.sent
        switch try await inquiry.read(key, email, offers, at: moment, timeout: Self.timeout, waits: false) {
        case .notBefore(let turn): return (.tooSoon, turn)
        case .away: return (.away, nil)
        case .answered(let ends):
            try await keep(ends, owned, of: customer, publisher)
            return (ends.count == offers.count ? .asked : .away, nil)
        }
    }

    /// The requested offer, and those about which Cleeng must be asked now: one read answers both. Without a requested
    /// one all of the customer's and the publisher's offers, the customer's first.
    private func offers(_ offer: OfferID?, _ owned: [LedgerView], _ publisher: PublisherID) -> Set<OfferID> {
        if let offer { return owned.reduce(into: [offer]) { $0.formUnion($1.access.questions) } }
        let own = owned.reduce(into: Set<OfferID>()) { $0.formUnion($1.offers) }
        let sold = store.memory.catalogue.offers(of: publisher).filter { !own.contains($0) }
        return own.union(sold.prefix(max(Self.mostOffers - own.count, 0)))
    }

    private func keep(
        _ ends: [OfferID: LedgerEnd], _ owned: [LedgerView], of customer: CustomerEmail,
        _ publisher: PublisherID
    ) async throws {
        let messages = owned.compactMap { one -> LedgerMessage? in
            let said = ends.filter { one.offers.contains($0.key) }
            // Without a note: apps may ask at every start, so the timeline records only changes of status.
            guard !said.isEmpty else { return nil }
            return LedgerMessage(one.name, LedgerStatement(cleeng: said), condition: .whileOwned(by: customer.customer))
        }
        _ = try await store.subscriptions.record(messages)
        let found = ends.compactMap { offer, end -> FoundEntitlement? in
            guard !end.isOver, owned.allSatisfy({ $0.allows(offer, until: end.until) }) else { return nil }
            return FoundEntitlement(offer: offer, until: end.until, readAt: end.statedAt)
        }
        let kept = try await store.subscriptions.keep(found, of: customer, publisher: publisher)
        if kept > 0 { logger.info("Cleeng entitles to what no purchase here opens", metadata: ["offers": "\(kept)"]) }
    }
}

extension LedgerView {
    /// Offers that the subscription opens, by its product or by an add-on, or that were ever granted on it.
    fileprivate var offers: Set<OfferID> {
        granted.union(access.verdicts.keys).union(access.questions).union(access.present.map { [$0] } ?? [])
    }

    /// Whether Cleeng's entitlement may have another cause than this subscription. If the store revoked the
    /// subscription, Cleeng may not know that yet. Only an end later than the store's then shows another cause.
    fileprivate func allows(_ offer: OfferID, until: Timestamp?) -> Bool {
        guard state?.status == .revoked, offers.contains(offer) else { return true }
        guard let until, let end = state?.expiresAt else { return false }
        return until > end
    }
}
