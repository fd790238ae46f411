/// Whether calls may be sent on one of the upstream's routes; and how that route does. ARCHITECTURE.md draws its states.
///
/// After a pause that was asked for any answer closes it: the upstream was there all the time.
///
/// A run of failures and not a share of a window: one success shows that the upstream works, and what failed beside it is
/// tried again at its own pace. The run counts customers and not calls: a purchase that fails for what is in it fails again
/// and again, and must not hold up the others.
///
/// While it is open, probes are sent at growing gaps whether or not the one before has been answered, so that an upstream that
/// hangs for the whole length of a time-out is found well again before the time-out is over. A call that was under way
/// when the breaker opened decides nothing any more, whatever it comes to. After a recovery one call more may be under
/// way at a time for each success.
public struct CircuitBreaker: Sendable, Equatable {
    public struct Settings: Sendable, Equatable {
        /// Customers whose calls fail in a row until nothing more is sent.
        public var failures = 5
        public var firstWait = Duration.milliseconds(500)
        /// Short, since an app waits a minute and no longer: a purchase that comes when the upstream is well again is answered
        /// within ten seconds, this wait and its own way together.
        public var longestWait = Duration.seconds(8)
        /// A `Retry-After` is heeded up to this.
        public var longestHold = Duration.seconds(60)
        /// How many probes may be under way at once: at the gaps above, as many as go into a time-out of twenty seconds.
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

    /// The right to one call.
    public struct Admission: Sendable, Hashable {
        public internal(set) var isProbe: Bool
        /// How many outages there had been when it was given.
        var outage: Int
    }

    private enum Condition: Sendable, Equatable {
        case closed(run: Set<Int>, allowance: Int)
        case open(Outage)
    }

    private struct Outage: Sendable, Equatable {
        var nextProbeAt: Timestamp
        /// Until when the upstream itself wants to be left alone.
        var heldUntil: Timestamp
        /// How many there have been.
        var waits: Int
        /// How many are under way.
        var probes = 0
        /// Where it is no outage yet but a pause that was asked for: the customers whose calls had failed in a row before it.
        var run: Set<Int>?
    }

    public let settings: Settings
    public private(set) var health: UpstreamHealth
    private var condition = Condition.closed(run: [], allowance: .max)
    private var outages = 0

    public init(settings: Settings = Settings(), since now: Timestamp) {
        self.settings = settings
        self.health = UpstreamHealth(since: now)
    }

    public var state: State {
        switch condition {
        case .closed: .closed
        case .open(let outage): outage.probes == 0 ? .open : .halfOpen
        }
    }

    /// How many calls may be under way at once.
    public var allowance: Int {
        switch condition {
        case .closed(_, let allowance): allowance
        case .open(let outage): outage.probes
        }
    }

    func isCurrent(_ admission: Admission) -> Bool { admission.outage == outages }

    /// Nil unless it is closed.
    public func admission() -> Admission? {
        state == .closed ? Admission(isProbe: false, outage: outages) : nil
    }

    /// The right to a probe, where it is time for one.
    public mutating func probe(at now: Timestamp, jitter: Double) -> Admission? {
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
    ///   - result: nil where the call was not made, or broken off by ourselves.
    ///   - jitter: 0 up to 1, random.
    public mutating func ended(_ admission: Admission, _ result: CallResult?, at now: Timestamp, jitter: Double) {
        let isNews = record(admission, result, at: now, jitter: jitter)
        guard let result, let asked = result.retryAfter else { return }
        if !isNews { _ = health.record(result.outcome, at: now) }
        hold(until: now + min(max(asked, .zero), settings.longestHold))
    }

    /// - Returns: whether the call's result says anything about the route as it is now.
    private mutating func record(
        _ admission: Admission, _ result: CallResult?, at now: Timestamp, jitter: Double
    ) -> Bool {
        guard isCurrent(admission) else { return false }
        switch condition {
        case .closed(let run, let allowance) where !admission.isProbe:
            guard let result else { return false }
            _ = health.record(result.outcome, at: now)
            closed(run, allowance, result, at: now, jitter: jitter)
            return true
        case .open(var outage) where admission.isProbe:
            outage.probes -= 1
            condition = .open(outage)
            guard let result else {
                // It proved nothing: the next one need not wait.
                outage.nextProbeAt = min(outage.nextProbeAt, now)
                outage.waits -= 1
                condition = .open(outage)
                return false
            }
            // Asked to be left alone while this one was under way: nothing that it says changes that.
            guard now >= outage.heldUntil else { return false }
            _ = health.record(result.outcome, at: now)
            if result.outcome == .success || outage.run != nil {
                closed(outage.run ?? [], settings.probes, result, at: now, jitter: jitter)
            }
            return true
        case .closed, .open: return false
        }
    }

    private mutating func closed(
        _ run: Set<Int>, _ allowance: Int, _ result: CallResult, at now: Timestamp, jitter: Double
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

    /// The upstream said itself until when it wants to be left alone.
    private mutating func hold(until moment: Timestamp) {
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

    /// Up to a quarter less at random, so that copies that failed together do not probe together.
    private func wait(_ waits: Int, jitter: Double) -> Duration {
        let base = min(settings.firstWait * (1 << min(max(waits, 0), 20)), settings.longestWait)
        return base * (1 - 0.25 * min(max(jitter, 0), 1))
    }
}

/// What one call to the upstream came to, as far as the route is concerned.
public struct CallResult: Sendable, Equatable {
    public var outcome: UpstreamHealth.Outcome
    /// Customer of the call: failures of one customer alone say nothing of the others' calls.
    public var subject: Int
    /// How long the upstream asked to be left alone.
    public var retryAfter: Duration?

    public init(_ outcome: UpstreamHealth.Outcome, subject: Int, retryAfter: Duration? = nil) {
        self.outcome = outcome
        self.subject = subject
        self.retryAfter = retryAfter
    }
}
