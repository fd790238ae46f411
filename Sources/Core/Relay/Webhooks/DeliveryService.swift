public import Logging
import Metrics
import NIOConcurrencyHelpers
public import RelayCore
public import ServiceLifecycle
import Tracing
public import Webhooks

/// Delivers messages to webhook endpoints: many concurrently, but for one endpoint and customer one at a time, in
/// order.
///
/// An endpoint that hangs or is gone does not delay others: each has its own places and breaker.
public final class DeliveryService: Service {
    /// Permission to call an endpoint, with its data from the time of the claim.
    struct EndpointPermit: Sendable {
        var endpoint: WebhookEndpoint
        var breaker: Breakers<EndpointID>.Permit
    }

    let store: RelayStore
    let client: WebhookClient
    let credentials: PerPublisher<WebhookCredentials>
    let settings: DeliverySettings
    let logger: Logger
    let loop: WorkLoop
    let policy: LeasePolicy
    let leases: Leases<ClaimedRow.Key, EndpointID>
    let breakers: Breakers<EndpointID>
    let recorder: DeliveryRecorder
    private let directory: EndpointDirectory
    private let state = NIOLockedValueBox(State())

    private struct State {
        var known: [EndpointID: (endpoint: WebhookEndpoint, health: EndpointHealth)] = [:]
        /// The endpoints that get places; nil: all.
        var due: Set<EndpointID>?
        var tidyAt = ContinuousClock.now
    }

    private static let tidyEvery = Duration.seconds(1)
    /// How many retries of a message must fail before it may disable its endpoint; all, if fewer are configured.
    private static let retriesThatProve = 3

    /// - Parameters:
    ///   - client: shut down when the service ends.
    ///   - wakeup: signalled when there are messages to deliver.
    public init(
        store: RelayStore, client: WebhookClient, credentials: PerPublisher<WebhookCredentials>,
        settings: DeliverySettings, wakeup: Wakeup, logger: Logger
    ) {
        self.store = store
        self.client = client
        self.credentials = credentials
        self.settings = settings
        self.logger = logger
        let breakers = Breakers<EndpointID>(settings: DeliverySettings.breaker) { id, change in
            change.log(
                to: logger, opened: "a webhook endpoint does not take messages: it is only probed until it does",
                closed: "a webhook endpoint takes messages again"
            ) { _ in ["endpoint": "\(id)"] }
        }
        self.breakers = breakers
        loop = WorkLoop(
            name: "webhooks", wakeup: wakeup,
            idleTick: { breakers.hasOpen ? settings.probeTick : settings.idleTick }, gap: settings.claimGap,
            logger: logger, complaint: "no message to an endpoint can be claimed")
        policy = LeasePolicy(
            trouble: "the result of a message could not be written", grace: settings.grace,
            // The next message of its lane, or of its endpoint, may be sent now.
            wakesFrom: 1)
        leases = Leases(.fixed(startWithin: settings.startAtMost))
        directory = EndpointDirectory(store: store)
        recorder = DeliveryRecorder(store: store)
    }

    /// Number of messages in flight.
    public var inFlight: Int { leases.with { $0.running } }

    public func run() async throws {
        await LeaseEngine(queue: self).run()
        await client.shutDown()
    }

    /// Records the health of a message's endpoint if it has changed.
    func note(_ verdict: WebhookResult.Verdict, of claimed: ClaimedDelivery) async throws {
        let (id, now) = (claimed.endpoint, store.memory.clock.nowOrHostTime)
        let wasRetried = claimed.tries > min(Self.retriesThatProve, settings.retries.pauses.count)
        let change = state.withLockedValue {
            $0.known[id]?.health.record(verdict, wasRetried: wasRetried, at: now)
        }
        guard let change, try await store.webhooks.note(change, of: id) else { return }
        directory.forget()
        guard case .disabled(let reason) = change else { return }
        Counter(label: "relay_webhook_endpoints_disabled", dimensions: [("reason", reason.rawValue)]).increment()
        logger.error(
            "a webhook endpoint is disabled: nothing is sent to it, and what waits for it is dropped",
            metadata: ["endpoint": "\(id)", "reason": "\(reason.rawValue)"])
    }
}

extension DeliveryService: StoredQueue {
    /// Reads the endpoints, and which have due messages if there are not places for all; and periodically drops messages
    /// for disabled or removed ones.
    func prepare() async throws -> [ClaimedDelivery] {
        let endpoints = try await directory.all()
        let isScarce = settings.capacity.isScarce(for: endpoints.count(where: \.isActive))
        let due = isScarce ? try await store.webhooks.dueEndpoints() : nil
        let isTimeToTidy = state.withLockedValue { state in
            state.known = Dictionary(uniqueKeysWithValues: endpoints.map { ($0.id, ($0, $0.health)) })
            state.due = due
            let isTime = state.tidyAt <= .now
            if isTime { state.tidyAt = .now + Self.tidyEvery }
            return isTime
        }
        breakers.keep(only: Set(endpoints.map(\.id)))
        if isTimeToTidy { _ = try await store.webhooks.dropUndeliverable() }
        return []
    }

    func allowances() -> [EndpointID: ClaimAllowance<EndpointPermit>] {
        let (known, due) = state.withLockedValue { state in (state.known.values.map { $0 }, state.due) }
        let active = known.filter { !$0.health.isDisabled && due?.contains($0.endpoint.id) != false }.map(\.endpoint)
        var taken = leases.with { $0.running }
        var running: [PublisherID: Int] = [:]
        for (endpoint, _) in known {
            running[endpoint.publisher, default: 0] += leases.with { $0.running(in: endpoint.id) }
        }
        let most = settings.capacity.most(ofPublishers: running.count)
        var allowances: [EndpointID: ClaimAllowance<EndpointPermit>] = [:]
        // The order is random, because the first endpoint may get more places.
        for endpoint in active.shuffled() {
            let own = leases.with { $0.running(in: endpoint.id) }
            let (used, capacity) = (running[endpoint.publisher, default: 0], settings.capacity)
            let share = EndpointCapacity(places: most, perEndpoint: capacity.perEndpoint)
            let allowance = breakers.allowance(in: endpoint.id) { allowance in
                min(
                    share.available(taken: used, own: own, allowance: allowance),
                    capacity.available(taken: taken, own: own, allowance: allowance))
            }
            guard let allowance else { continue }
            taken += allowance.limit
            running[endpoint.publisher, default: 0] += allowance.limit
            allowances[endpoint.id] = ClaimAllowance(
                limit: allowance.limit,
                permit: allowance.permit.map { EndpointPermit(endpoint: endpoint, breaker: $0) },
                isProbe: allowance.isProbe)
        }
        return allowances
    }

    /// Claims nothing for an endpoint whose credentials this copy does not have.
    func claim(_ allowances: [EndpointID: ClaimAllowance<EndpointPermit>]) async throws -> [ClaimedDelivery] {
        let quotas = allowances.compactMapValues { allowance in
            allowance.permit.flatMap { permit in
                credentials[permit.endpoint.publisher].map {
                    DeliveryQuota(count: allowance.limit, publisher: permit.endpoint.publisher, mark: $0.mark)
                }
            }
        }
        return try await store.webhooks.claim(
            quotas, own: Array(credentials.own.keys), lease: settings.lease(timeout: client.timeout))
    }

    func route(of claimed: ClaimedDelivery) -> EndpointID { claimed.endpoint }

    func work(on claimed: [ClaimedDelivery], _ permit: EndpointPermit?) async throws {
        guard let permit else { throw CancellationError() }
        for one in claimed {
            try await traced(
                "deliver", one.trace,
                [
                    "relay.delivery_id": "\(one.id)", "relay.endpoint": "\(one.endpoint)",
                    "relay.try": .int64(Int64(one.tries)),
                ]
            ) {
                try await attempt(one, permit)
            }
        }
    }

    func release(_ permit: EndpointPermit) { breakers.end(permit.breaker) }

    func drain() async { await recorder.drain() }
}
