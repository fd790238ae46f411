/// Decides whether calls may be sent on one of the upstream's routes, and records the route's health. ARCHITECTURE.md
/// draws its states.
///
/// After a pause that the upstream requested, any answer closes the breaker, unless it is the fifth failure in a row.
///
/// Counts failures in a row, not a share of a window. One success shows that the upstream works, and failed purchases
/// are retried on their own schedule. It counts customers, not calls: a purchase that fails because of its content
/// fails repeatedly, and must not block the others.
///
/// While it is open, probes are sent at growing gaps, even if earlier probes are unanswered. So the recovery of a
/// hanging upstream is noticed before a probe's time-out ends. A call from before the opening no longer changes the
/// state, whatever its result. After a recovery, each success allows one more call at a time.
public struct CircuitBreaker: Sendable, Equatable {
    public struct Settings: Sendable, Equatable {
        /// Number of customers whose calls fail in a row before the breaker opens.
        public var failures = 5
        public var firstWait = Duration.milliseconds(500)
        /// Short, since an app waits only a minute. After the upstream's recovery a purchase is answered within ten
        /// seconds, including this wait.
        public var longestWait = Duration.seconds(8)
        /// Longest `Retry-After` that is respected.
        public var longestHold = Duration.seconds(60)
        /// Bound of simultaneous probes: at the gaps above, the number that fits into a time-out of twenty seconds.
        public var probes = 5

        public init() {}
    }

    public enum State: String, Sendable, CaseIterable {
        /// Calls are sent.
        case closed
        /// Nothing is sent.
        case open
        /// Probes are under way.
        case halfOpen = "half_open"
    }

    /// Permission for one call.
    public struct Admission: Sendable, Hashable {
        public internal(set) var isProbe: Bool
        /// Number of outages when it was issued.
        var outage: Int
    }

    private enum Condition: Sendable, Equatable {
        case closed(run: Set<Int>, allowance: Int)
        case open(Outage)
    }

    private struct Outage: Sendable, Equatable {
        var nextProbeAt: ContinuousClock.Instant
        /// Time until which the upstream asked for no calls.
        var heldUntil: ContinuousClock.Instant
        /// Number of waits so far, which sets the length of the next one.
        var waits: Int
        /// Number of probes under way.
        var probes = 0
        /// Customers whose calls had failed in a row before a pause that the upstream requested; nil for an outage.
        var run: Set<Int>?
    }

    public let settings: Settings
    public private(set) var health: UpstreamHealth
    private var condition = Condition.closed(run: [], allowance: .max)
    private var outages = 0

    public init(settings: Settings = Settings(), since now: ContinuousClock.Instant) {
        self.settings = settings
        self.health = UpstreamHealth(since: now)
    }

    public var state: State {
        switch condition {
        case .closed: .closed
        case .open(let outage): outage.probes == 0 ? .open : .halfOpen
        }
    }

    /// Number of calls that may be under way at once.
    public var allowance: Int {
        switch condition {
        case .closed(_, let allowance): allowance
        case .open(let outage): outage.probes
        }
    }

    func isCurrent(_ admission: Admission) -> Bool { admission.outage == outages }

    /// Permission for a call; nil unless the breaker is closed.
    public func admission() -> Admission? {
        state == .closed ? Admission(isProbe: false, outage: outages) : nil
    }

    /// Permission for a probe, if one is due.
    public mutating func probe(at now: ContinuousClock.Instant, jitter: Double) -> Admission? {
        guard case .open(var outage) = condition, now >= outage.nextProbeAt, now >= outage.heldUntil,
            outage.probes < settings.probes
        else { return nil }
        outage.nextProbeAt = now + wait(outage.waits, jitter: jitter)
        outage.waits += 1
        outage.probes += 1
        condition = .open(outage)
        return Admission(isProbe: true, outage: outages)
    }

    /// - Parameters:
    ///   - result: nil if the relay did not make the call, or cancelled it.
    ///   - jitter: random, 0 up to 1.
    public mutating func ended(
        _ admission: Admission, _ result: CallResult?, at now: ContinuousClock.Instant, jitter: Double
    ) {
        let isNews = record(admission, result, at: now, jitter: jitter)
        guard let result, let asked = result.retryAfter else { return }
        if !isNews { _ = health.record(result.outcome, at: now) }
        hold(until: now + min(max(asked, .zero), settings.longestHold))
    }

    /// - Returns: whether the call's result applies to the present state of the route.
    private mutating func record(
        _ admission: Admission, _ result: CallResult?, at now: ContinuousClock.Instant, jitter: Double
    ) -> Bool {
        guard isCurrent(admission) else { return false }
        switch condition {
        case .closed(let run, let allowance) where !admission.isProbe:
            guard let result else { return false }
            _ = health.record(result.outcome, at: now)
            count(run, allowance, result, at: now, jitter: jitter)
            return true
        case .open(var outage) where admission.isProbe:
            outage.probes -= 1
            condition = .open(outage)
            guard let result else {
                // This probe proved nothing, so the next one need not wait.
                outage.nextProbeAt = min(outage.nextProbeAt, now)
                outage.waits -= 1
                condition = .open(outage)
                return false
            }
            // The upstream requested a pause while this probe was under way. The probe's result does not shorten it.
            guard now >= outage.heldUntil else { return false }
            _ = health.record(result.outcome, at: now)
            if result.outcome == .success || outage.run != nil {
                count(outage.run ?? [], settings.probes, result, at: now, jitter: jitter)
            }
            return true
        case .closed, .open: return false
        }
    }

    private mutating func count(
        _ run: Set<Int>, _ allowance: Int, _ result: CallResult, at now: ContinuousClock.Instant, jitter: Double
    ) {
        guard result.outcome != .success else {
            condition = .closed(run: [], allowance: allowance == .max ? .max : allowance + 1)
            return
        }
        let run = run.union([result.subject])
        if run.count < settings.failures {
            condition = .closed(run: run, allowance: allowance)
        } else {
            open(Outage(nextProbeAt: now + wait(0, jitter: jitter), heldUntil: now, waits: 1))
        }
    }

    /// Starts or extends a pause that the upstream requested.
    private mutating func hold(until moment: ContinuousClock.Instant) {
        switch condition {
        case .closed(let run, _): open(Outage(nextProbeAt: moment, heldUntil: moment, waits: 0, run: run))
        case .open(var outage):
            outage.heldUntil = max(outage.heldUntil, moment)
            condition = .open(outage)
        }
    }

    private mutating func open(_ outage: Outage) {
        outages += 1
        condition = .open(outage)
    }

    /// Subtracts up to a quarter at random, so that copies that failed together do not probe together.
    private func wait(_ waits: Int, jitter: Double) -> Duration {
        let base = min(settings.firstWait * (1 << min(max(waits, 0), 20)), settings.longestWait)
        return base * (1 - 0.25 * min(max(jitter, 0), 1))
    }
}

/// Result of one upstream call, as far as the route is concerned.
public struct CallResult: Sendable, Equatable {
    public var outcome: UpstreamHealth.Outcome
    /// Customer of the call. One customer's failures alone do not show that other customers' calls fail.
    public var subject: Int
    /// The pause that the upstream requested.
    public var retryAfter: Duration?

    public init(_ outcome: UpstreamHealth.Outcome, subject: Int, retryAfter: Duration? = nil) {
        self.outcome = outcome
        self.subject = subject
        self.retryAfter = retryAfter
    }
}
