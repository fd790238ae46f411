/// Who may call the upstream now: one ``CircuitBreaker`` for each route, and one bound for the calls of both together.
///
/// In order of arrival on each route, the routes by turns where both wait. A route may take up three quarters of the places and
/// no more, so that calls that hang on one do not stop the other.
public struct CallGate: Sendable {
    /// The right to one call, until it is given back by ``end(_:_:at:jitter:)``.
    public struct Pass: Sendable, Hashable {
        public let route: UpstreamRoute
        let number: UInt64
        let admission: CircuitBreaker.Admission

        public var isProbe: Bool { admission.isProbe }
    }

    public enum Arrival: Sendable, Equatable {
        case admitted(Pass)
        /// Heard of later, in a ``Word``.
        case waiting
        /// The breaker is open.
        case refused
    }

    /// What a waiter is told: nil, that it is refused.
    public struct Word: Sendable, Equatable {
        public let waiter: UInt64
        public let pass: Pass?
    }

    private struct Lane: Sendable {
        var breaker: CircuitBreaker
        var passes: Set<Pass> = []
        var waiting: [UInt64] = []

        /// Calls from before an outage hold a place, and do not count against who may go now.
        var hasAllowance: Bool {
            breaker.allowance == .max || passes.count { breaker.isCurrent($0.admission) } < breaker.allowance
        }
    }

    /// At least 1.
    public let capacity: Int
    private var payments: Lane
    private var reads: Lane
    private var lastNumber: UInt64 = 0
    private var lastServed = UpstreamRoute.reads

    public init(capacity: Int, settings: CircuitBreaker.Settings = CircuitBreaker.Settings(), since now: Timestamp) {
        self.capacity = max(1, capacity)
        payments = Lane(breaker: CircuitBreaker(settings: settings, since: now))
        reads = payments
    }

    public subscript(route: UpstreamRoute) -> CircuitBreaker { self[lane: route].breaker }

    /// Calls that may be under way, and those that wait for it.
    public func load(of route: UpstreamRoute) -> (inFlight: Int, waiting: Int) {
        (self[lane: route].passes.count, self[lane: route].waiting.count)
    }

    /// Wants a call.
    public mutating func arrive(_ waiter: UInt64, on route: UpstreamRoute) -> Arrival {
        guard let admission = self[route].admission() else { return .refused }
        guard self[lane: route].waiting.isEmpty, hasRoom(route) else {
            self[lane: route].waiting.append(waiter)
            return .waiting
        }
        return .admitted(pass(on: route, admission))
    }

    /// No longer wants it.
    ///
    /// - Returns: false where it does not wait (any more).
    public mutating func giveUp(_ waiter: UInt64, on route: UpstreamRoute) -> Bool {
        guard let index = self[lane: route].waiting.firstIndex(of: waiter) else { return false }
        self[lane: route].waiting.remove(at: index)
        return true
    }

    /// The right to a probe, where the breaker is open and it is time for one.
    public mutating func probe(on route: UpstreamRoute, at now: Timestamp, jitter: Double) -> Pass? {
        guard inFlight < capacity, let admission = self[lane: route].breaker.probe(at: now, jitter: jitter) else {
            return nil
        }
        return pass(on: route, admission)
    }

    /// - Parameters:
    ///   - result: nil where the call was not made, or broken off by ourselves.
    ///   - jitter: 0 up to 1, random.
    /// - Returns: who is to be told what. Nothing where the pass has been given back before.
    public mutating func end(_ pass: Pass, _ result: CallResult?, at now: Timestamp, jitter: Double) -> [Word] {
        guard self[lane: pass.route].passes.remove(pass) != nil else { return [] }
        self[lane: pass.route].breaker.ended(pass.admission, result, at: now, jitter: jitter)
        return sendAway(pass.route) + serve()
    }

    private mutating func sendAway(_ route: UpstreamRoute) -> [Word] {
        guard self[route].state != .closed else { return [] }
        defer { self[lane: route].waiting = [] }
        return self[lane: route].waiting.map { Word(waiter: $0, pass: nil) }
    }

    private mutating func serve() -> [Word] {
        var words: [Word] = []
        while let route = [lastServed.other, lastServed].first(where: { isServable($0) }),
            let admission = self[route].admission()
        {
            lastServed = route
            let waiter = self[lane: route].waiting.removeFirst()
            words.append(Word(waiter: waiter, pass: pass(on: route, admission)))
        }
        return words
    }

    private func isServable(_ route: UpstreamRoute) -> Bool {
        !self[lane: route].waiting.isEmpty && hasRoom(route)
    }

    private var inFlight: Int { payments.passes.count + reads.passes.count }

    private func hasRoom(_ route: UpstreamRoute) -> Bool {
        let most = capacity == 1 ? 1 : capacity - max(1, capacity / 4)
        return inFlight < capacity && self[lane: route].passes.count < most && self[lane: route].hasAllowance
    }

    private mutating func pass(on route: UpstreamRoute, _ admission: CircuitBreaker.Admission) -> Pass {
        lastNumber += 1
        let pass = Pass(route: route, number: lastNumber, admission: admission)
        self[lane: route].passes.insert(pass)
        return pass
    }

    private subscript(lane route: UpstreamRoute) -> Lane {
        get { route == .payments ? payments : reads }
        set { if route == .payments { payments = newValue } else { reads = newValue } }
    }
}
