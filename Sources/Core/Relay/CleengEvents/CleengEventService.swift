import Cleeng
public import Logging
import Metrics
import NIOConcurrencyHelpers
import NIOCore
public import RelayCore
public import ServiceLifecycle

/// Processes Cleeng's events: settles waiting purchases at once, and updates the ledger.
///
/// An event may arrive before the answer to its forward, or during a read of its purchase. It is then processed again
/// shortly after. Events are only a shortcut: without them every purchase is still read.
public struct CleengEventService: Service {
    let store: RelayStore
    let loop: WorkLoop
    let policy = LeasePolicy(trouble: "an event could not be acted on", wakesFrom: Self.maxConcurrent)
    /// The routes are the accounts; nil is the shared account.
    let leases: Leases<ClaimedRow.Key, PublisherID?>
    private let accounts: PerPublisher<PursuitService>
    private let ledgers: LedgerService
    private let logger: Logger
    private let lease: Duration
    /// When an account's last look-up was refused.
    private let refusedAt = NIOLockedValueBox<[PublisherID?: ContinuousClock.Instant]>([:])

    /// How long the service tries to settle the purchases that an event concerns.
    private static let patience = Duration.seconds(60)
    /// Pause after a refusal that only a change of the token or the address can end.
    private static let refusedPause = Duration.seconds(600)
    /// Limit of concurrent events for each account, so that a slow account delays no other.
    private static let maxConcurrent = 32

    /// - Parameters:
    ///   - callTimeout: limit of a call to Cleeng.
    ///   - wakeup: signalled when an event has arrived.
    public init(
        store: RelayStore, accounts: PerPublisher<PursuitService>, ledgers: LedgerService, callTimeout: Duration,
        wakeup: Wakeup, logger: Logger
    ) {
        self.store = store
        lease = LeaseTerm.ofThreeCalls(of: callTimeout)
        leases = Leases(.fixed(startWithin: lease))
        self.accounts = accounts
        self.ledgers = ledgers
        self.logger = logger
        loop = WorkLoop(
            name: "cleeng_events", wakeup: wakeup, idleTick: { DueWatch.fallback }, logger: logger,
            complaint: "no event can be acted on")
    }

    public func run() async throws { await LeaseEngine(queue: self).run() }

    private func act(on claimed: ClaimedEvent) async throws {
        // Events of accounts without configuration are not claimed.
        guard let account = accounts[account: claimed.account] else { throw CancellationError() }
        guard let event = CleengEvent(ByteBuffer(bytes: claimed.body.value)), event.verdict != .nothing,
            let offer = event.offerID
        else { return try await end(claimed, "kept") }
        guard let subject = try await subject(of: event, offer, claimed, account) else { return }
        var applied = 0
        if let statement = UpstreamStatement(event, saidAt: claimed.receivedAt) {
            let outcome = try await account.apply(statement, to: subject)
            applied = outcome.applied
            if outcome.left > 0, claimed.now - claimed.receivedAt < Self.patience {
                return try await retry(claimed, "waits", after: .milliseconds(100))
            }
        }
        // A purchase that waited has taken the subscription.
        if event.isTransfer, applied == 0 {
            guard let joined = try await join(subject, event, claimed, account) else { return }
            applied += joined
        }
        // The event may be late, and may concern any of the customer's subscriptions to the offer. So Cleeng is asked
        // for their current status.
        let names = applied > 0 && event.verdict != .ended ? [] : try await store.events.owned(by: subject)
        let look = try await ledgers.lookUp(
            names, event: (event.topic, offer, claimed.receivedAt), unlessRunning: event.verdict == .granted)
        if case .again(let moment) = look {
            let pause = moment.map { max($0 - (store.memory.clock.now ?? $0), .zero) + .milliseconds(50) }
            return try await retry(claimed, "Cleeng could not be asked", after: pause ?? self.pause(claimed))
        }
        try await end(claimed, "applied to \(applied) purchases, looked up \(names.count) subscriptions")
    }

    /// Joins the customer's grants that stand alone to the subscription that Cleeng has moved to them.
    ///
    /// An event has no time, and may come late or again. So Cleeng is asked whether the previous customer still has the
    /// offer: then nothing is moved.
    ///
    /// - Returns: the number of grants; nil if the event is handled again later.
    private func join(
        _ subject: EventSubject, _ event: CleengEvent, _ claimed: ClaimedEvent, _ account: PursuitService
    ) async throws -> Int? {
        let grants = try await store.subscriptions.aloneGrants(of: subject)
        guard let first = grants.first, let number = event.previousCustomerID else { return 0 }
        let previous: CustomerEmail
        switch await account.upstream.customer(number) {
        case .email(let text):
            guard let email = CustomerEmail(text) else { return 0 }
            previous = email
        // Without the name it is not known which subscription moved.
        case .unknown, .misconfigured: return 0
        case .tryAgain:
            try await retry(claimed, "Cleeng could not be asked whose it was", after: pause(claimed))
            return nil
        }
        let owner = CurrentOwner(
            key: CustomerKey(publisher: first.named.publisher, customer: previous.customer), email: previous.sent,
            offerID: subject.offerID)
        guard case .answered(let reading) = try await account.read(owner) else {
            try await retry(claimed, "Cleeng could not be asked about the previous customer", after: pause(claimed))
            return nil
        }
        guard !reading.isEntitled else { return 0 }
        let move = SubscriptionStore.ReportedMove(
            to: subject, from: previous.customer, saidAt: reading.observedAt,
            summary: "\(event.topic): \(event.result ?? "")")
        return try await store.subscriptions.join(grants, move)
    }

    /// Doubles with each attempt, up to a minute.
    private func pause(_ claimed: ClaimedEvent) -> Duration { .seconds(min(1 << min(claimed.attempts, 6), 60)) }

    private func retry(_ claimed: ClaimedEvent, _ outcome: String, after pause: Duration) async throws {
        try await store.events.finish(claimed, outcome: outcome, again: pause)
    }

    private func end(_ claimed: ClaimedEvent, _ outcome: String) async throws {
        try await store.events.finish(claimed, outcome: outcome)
        Counter(label: "relay_cleeng_events_handled").increment()
    }

    /// Finds the customer: the one whose email the event names, else the one whom Cleeng names for its number. Numbers
    /// that apps have sent do not count.
    ///
    /// - Returns: nil if the customer is unknown, or not known yet.
    private func subject(
        of event: CleengEvent, _ offer: OfferID, _ claimed: ClaimedEvent, _ account: PursuitService
    ) async throws -> EventSubject? {
        if let email = event.customerEmail { return try await subject(email.text, offer, claimed) }
        guard let id = event.customerID else {
            try await end(claimed, "it names nobody")
            return nil
        }
        switch await account.upstream.customer(id) {
        case .email(let text): return try await subject(text, offer, claimed)
        case .unknown: try await end(claimed, "Cleeng knows nobody by that number")
        case .misconfigured:
            // One line for all events of the pause.
            let isFirst = refusedAt.withLockedValue { refused in
                let last = refused.updateValue(.now, forKey: claimed.account)
                return last.map { $0 + Self.refusedPause < .now } ?? true
            }
            logger.log(
                level: isFirst ? .critical : .debug,
                "Cleeng refuses to say whose an event is: let the publisher token read /3.1/customers",
                metadata: ["account": "\(claimed.account?.text ?? "common")"])
            try await retry(claimed, "Cleeng refuses to say whose it is", after: Self.refusedPause)
        case .tryAgain:
            try await retry(claimed, "Cleeng could not be asked whose it is", after: pause(claimed))
        }
        return nil
    }

    private func subject(_ email: String, _ offer: OfferID, _ claimed: ClaimedEvent) async throws -> EventSubject? {
        if let customer = CustomerEmail(email)?.customer {
            return EventSubject(
                customer: customer, offerID: offer, scope: accounts.scope(ofAccount: claimed.account))
        }
        try await end(claimed, "it names an email that no purchase can have")
        return nil
    }
}

extension CleengEventService: StoredQueue {
    func allowances() -> [PublisherID?: ClaimAllowance<Never>] {
        leases.allowances(of: [nil] + accounts.own.keys.map(Optional.some), each: Self.maxConcurrent)
    }

    func claim(_ allowances: [PublisherID?: ClaimAllowance<Never>]) async throws -> [ClaimedEvent] {
        try await store.events.claim(allowances.mapValues(\.limit), lease: lease)
    }

    func route(of event: ClaimedEvent) -> PublisherID? { event.account }

    func work(on events: [ClaimedEvent], _: Never?) async throws {
        for event in events { try await act(on: event) }
    }
}

extension UpstreamStatement {
    /// Nil if the event settles no purchase.
    fileprivate init?(_ event: CleengEvent, saidAt: Timestamp) {
        let summary = [event.topic, event.result].compactMap(\.self).joined(separator: ": ")
        switch event.verdict {
        case .granted:
            self.init(
                .granted(expiresAt: event.expiresAt, evidence: event.evidence),
                saidAt: saidAt, summary: summary, synchronization: event.synchronizationID, isTransfer: event.isTransfer
            )
        case .refused(let reason):
            self.init(
                .refused(reason: reason), saidAt: saidAt, summary: summary, synchronization: event.synchronizationID)
        case .ended, .nothing: return nil
        }
    }
}
