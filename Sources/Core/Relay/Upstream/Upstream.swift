public import Cleeng
import Formats
import Foundation
public import Logging
import Metrics
public import RelayCore

/// The workers' access to one account at Cleeng. Sends purchases, returns answers in the domain's terms, limits
/// concurrent calls, and records Cleeng's health.
public final class Upstream: Sendable {
    private let client: CleengClient
    private let clock: DatabaseClock
    private let logger: Logger
    private let gate: UpstreamGate
    private let work: Wakeup
    private let account: PublisherID?
    private let news: Wakeup

    private struct CallKind: Hashable {
        var route: UpstreamRoute
        var verdict: String
    }
    private let calls: KeptMetrics<CallKind, Counter>
    private let durations: KeptMetrics<UpstreamRoute, Timer>

    /// - Parameters:
    ///   - maxConcurrentCalls: limit of all routes together.
    ///   - account: publisher that owns the account at Cleeng; nil for the shared account.
    ///   - news: signalled when a route's health has changed.
    ///   - work: signalled when a route's breaker has closed again.
    public init(
        client: CleengClient, account: PublisherID? = nil, clock: DatabaseClock, maxConcurrentCalls: Int,
        news: Wakeup = Wakeup(), work: Wakeup, logger: Logger
    ) {
        self.client = client
        self.account = account
        self.clock = clock
        self.news = news
        self.work = work
        var logger = logger
        if let account { logger[metadataKey: "account"] = "\(account)" }
        self.logger = logger
        gate = UpstreamGate(capacity: maxConcurrentCalls, account: account)
        calls = KeptMetrics { kind in
            let labels = Self.labels(kind.route.rawValue, account) + [("verdict", kind.verdict)]
            return Counter(label: "relay_upstream_calls", dimensions: labels)
        }
        durations = KeptMetrics { route in
            Timer(label: "relay_upstream_call_duration", dimensions: Self.labels(route.rawValue, account))
        }
    }

    // MARK: Passes

    func isBreakerClosed(_ route: UpstreamRoute) -> Bool { gate.breaker(route).state == .closed }

    /// A pass for a probe, if the route is shut and a probe is due. The caller releases it with ``leave(_:)``.
    func probe(on route: UpstreamRoute) -> CallGate.Pass? { gate.probe(on: route) }

    /// Waits for a pass for one call. The call itself releases the pass; ``leave(_:)`` releases an unused one.
    ///
    /// - Parameters:
    ///   - probe: a pass that the caller holds already; returned if it is for `route`.
    ///   - limit: longest wait.
    /// - Returns: nil if the route is shut, the limit is over, or the task is cancelled.
    func enter(
        _ route: UpstreamRoute, with probe: CallGate.Pass? = nil, atMost limit: Duration? = nil
    ) async -> CallGate.Pass? {
        if let probe, probe.route == route { return probe }
        return await gate.enter(route, atMost: limit)
    }

    /// Releases a pass that was not used. A used pass is released already.
    func leave(_ pass: CallGate.Pass) { gate.leave(pass) }

    // MARK: Calls

    /// Sends a purchase by `/apple/payment`.
    func forward(
        _ purchase: StoredPurchase, _ receipt: Acceptance.Receipt, _ pass: CallGate.Pass
    ) async -> ForwardAnswer {
        sort(await client.pay(Payment(purchase, Payment.Receipt(receipt, of: purchase))), of: purchase, pass)
    }

    /// Sends a purchase of another store by that store's path.
    func forward(
        _ purchase: StoredPurchase, _ receipt: StoreReceipt, _ pass: CallGate.Pass
    ) async -> ForwardAnswer {
        sort(await client.pay(Payment(purchase, .store(receipt))), of: purchase, pass)
    }

    /// Registers a purchase with a connector.
    ///
    /// - Parameters:
    ///   - proof: the store's own identification of the purchase.
    ///   - transfers: whether to move the purchase from the customer who has it.
    ///   - name: UUID of this claim, as a name for the synchronization.
    func register(
        _ purchase: StoredPurchase, _ proof: ConnectorPurchase.Proof, of cleengCustomer: Int64, transfers: Bool,
        name: String, _ pass: CallGate.Pass
    ) async -> ForwardAnswer {
        let answer = await client.send(
            ConnectorPurchase(proof, cleengCustomerId: cleengCustomer, ipAddress: purchase.ipAddress?.value),
            transfers: transfers, name: name)
        return sort(answer, of: purchase, pass)
    }

    private func sort(
        _ sorted: ForwardAnswer, of purchase: StoredPurchase, _ pass: CallGate.Pass
    ) -> ForwardAnswer {
        let result = CallResult(
            sorted.outcome, subject: purchase.email.hashValue, retryAfter: sorted.pauseOfRoute)
        record(pass, result, latency: sorted.latency, verdict: sorted.label)
        return sorted
    }

    /// Reads how far Cleeng has processed a purchase that a connector accepted.
    func synchronization(
        _ name: String, of connector: Connector, for email: EmailAddress, offer: OfferID, _ pass: CallGate.Pass
    ) async -> SynchronizationAnswer {
        let observedAt = clock.noLaterThanNow ?? Timestamp(microseconds: 0)
        let sorted = await client.synchronization(name, of: connector, offer: offer, observedAt: observedAt)
        let result = CallResult(sorted.outcome, subject: email.hashValue, retryAfter: sorted.pauseOfRoute)
        record(pass, result, latency: sorted.latency, verdict: sorted.label)
        return sorted
    }

    /// Reads a customer's entitlements, with one answer for each offer.
    ///
    /// - Parameter timeout: replaces the configured one. If it ends the call, that says nothing about the upstream's
    ///   health.
    func entitlements(
        of email: EmailAddress, offers: [OfferID], timeout: Duration? = nil, _ pass: CallGate.Pass
    ) async -> [OfferID: EntitlementAnswer] {
        let observedAt = clock.noLaterThanNow ?? Timestamp(microseconds: 0)
        let answer = await client.entitlements(customerEmail: email, offers: offers, timeout: timeout)
        var sorted: [OfferID: EntitlementAnswer] = [:]
        for offer in offers {
            sorted[offer] = EntitlementAnswer(answer, offer: offer, observedAt: observedAt)
        }
        if let one = sorted.first?.value {
            let isGivenUp = timeout != nil && answer.verdict == .tryAgain(.timeout, retryAfter: nil)
            let result = CallResult(one.outcome, subject: email.hashValue, retryAfter: one.pauseOfRoute)
            record(pass, isGivenUp ? nil : result, latency: answer.latency, verdict: answer.label)
        }
        return sorted
    }

    /// Reads a customer's email, in a place like a read's. Its result does not count for the health of the reads: Cleeng
    /// may refuse this route alone.
    func customer(_ id: Int64) async -> CustomerAnswer {
        if let email = client.knownEmail(of: id) { return .email(email) }
        // It may be the only call on the route. A probe that is released without a result lets the next one through.
        guard let pass = await enter(.reads, with: probe(on: .reads), atMost: .seconds(5)) else {
            return .tryAgain(.throttled)
        }
        defer { leave(pass) }
        return await client.customer(id)
    }

    /// Asks whose a number is, in the place of the purchase that is then sent under it.
    func owner(of number: Int64, _: CallGate.Pass) async -> NumberOwner { NumberOwner(await client.customer(number)) }

    // MARK: Health

    private static let recently = Duration.seconds(900)

    /// Health of the worst route. Nil until the database's time is known.
    public func report() -> InstanceReport? {
        // A healthy route without a recent call says nothing about the present.
        let present = ContinuousClock.now
        let recent = present - Self.recently
        let all = UpstreamRoute.allCases.map { gate.breaker($0).health }
        let used = all.filter { health in health.state != .ok || health.lastCallAt.map { $0 >= recent } == true }
        let routes = used.isEmpty ? all.filter { $0.lastCallAt != nil } : used
        guard let worse = (routes.isEmpty ? all : routes).max(by: { $0.state < $1.state }), let now = clock.now else {
            return nil
        }
        func time(_ moment: ContinuousClock.Instant) -> Timestamp { now - (present - moment) }
        let asked = worse.state == .ok ? routes.map(\.lastCallAt) : [worse.lastCallAt]
        return InstanceReport(
            state: InstanceReport.UpstreamState(rawValue: worse.state.rawValue) ?? .degraded,
            since: time(worse.since),
            lastError: worse.lastError.map { (account.map { "\($0): " } ?? "") + $0 },
            askedAt: asked.contains(nil) ? nil : asked.compactMap(\.self).min().map(time),
            othersSucceed: all.contains { health in
                health.state == .ok && health.lastCallAt.map { $0 >= worse.since } == true
            })
    }

    public func breakerState(_ route: UpstreamRoute) -> CircuitBreaker.State { gate.breaker(route).state }

    public func load(of route: UpstreamRoute) -> (inFlight: Int, waiting: Int) { gate.load(of: route) }

    private func record(_ pass: CallGate.Pass, _ result: CallResult?, latency: Duration, verdict: String) {
        let route = pass.route.rawValue
        calls[CallKind(route: pass.route, verdict: verdict)].increment()
        durations[pass.route].record(duration: latency)
        if pass.isProbe { Counter(label: "relay_upstream_probes", dimensions: labels(route)).increment() }
        // A call that the relay itself cancelled says nothing about the upstream.
        let change = gate.leave(pass, Task.isCancelled ? nil : result)
        if change.before.health.state != change.after.health.state {
            tell(change.after.health, route)
            news.signal()
        }
        change.log(
            to: logger, opened: "nothing but probes is sent upstream for now",
            closed: "upstream has answered: everything is sent again"
        ) { event in
            guard event == .opened else { return ["route": "\(route)"] }
            return [
                "route": "\(route)", "error": "\(change.after.health.lastError ?? "")",
                "retry_after_ms": .stringConvertible((result?.retryAfter ?? .zero).microseconds / 1_000),
            ]
        }
        switch change.event {
        case .opened: Counter(label: "relay_upstream_breaker_opens", dimensions: labels(route)).increment()
        case .closed: work.signal()
        case nil: break
        }
    }

    /// Labels of metrics. They name a publisher's own account.
    public func labels(_ route: String) -> [(String, String)] { Self.labels(route, account) }

    public var accountLabel: [(String, String)] { Self.label(account) }

    static func labels(_ route: String, _ account: PublisherID?) -> [(String, String)] {
        label(account) + [("route", route)]
    }

    private static func label(_ account: PublisherID?) -> [(String, String)] {
        account.map { [("account", $0.text)] } ?? []
    }

    private func tell(_ health: UpstreamHealth, _ route: String) {
        let metadata: Logger.Metadata = [
            "route": "\(route)", "state": "\(health.state.rawValue)", "error": "\(health.lastError ?? "")",
        ]
        switch health.state {
        case .ok: logger.notice("upstream is well again", metadata: metadata)
        case .degraded: logger.warning("an upstream call failed", metadata: metadata)
        case .down: logger.error("upstream is down: purchases are kept and tried again", metadata: metadata)
        case .misconfigured:
            logger.critical(
                "upstream refuses our configuration (token or address): purchases are kept, none is rejected, and nothing \(account == nil ? "" : "of this account ")is granted until it is mended",
                metadata: metadata)
        }
    }
}

extension Upstream: CustomerDirectory {
    public func owner(of number: Int64, for connector: Connector, within patience: Duration) async -> NumberOwner {
        if let email = client.knownEmail(of: number) { return NumberOwner(.email(email)) }
        let route = Pursuit.Phase.registering(connector).route ?? .payments
        guard let pass = await enter(route, atMost: patience) else { return .unanswered("busy or shut") }
        defer { leave(pass) }
        return NumberOwner(await client.customer(number, timeout: patience))
    }
}

extension NumberOwner {
    fileprivate init(_ answer: CustomerAnswer) {
        self =
            switch answer {
            case .email(let text): CustomerEmail(text).map { .customer($0.customer) } ?? .nobody
            case .unknown: .nobody
            case .misconfigured: .unanswered("Cleeng refuses to say whose it is")
            case .tryAgain(let trouble): .unanswered("\(trouble)")
            }
    }
}
