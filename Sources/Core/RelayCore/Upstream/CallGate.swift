/// Limits calls to the upstream: one ``CircuitBreaker`` per route, and one bound for the calls of all routes together.
///
/// Admits calls in order of arrival on each route; waiting routes take turns. A route may use at most three quarters of
/// the places, and a connector's two routes share that bound. So calls that hang on one route do not block the others.
public struct CallGate: Sendable {
    /// Permission for one call, released by ``end(_:_:at:jitter:)``.
    public struct Pass: Sendable, Hashable {
        public let route: UpstreamRoute
        let number: UInt64
        let admission: CircuitBreaker.Admission

        public var isProbe: Bool { admission.isProbe }
    }

    public enum Arrival: Sendable, Equatable {
        case admitted(Pass)
        /// Resolved later by a ``Resolution``.
        case waiting
        /// The breaker is open.
        case refused
    }

    /// Outcome for a waiter; `pass` is nil if it is refused.
    public struct Resolution: Sendable, Equatable {
        public let waiter: UInt64
        public let pass: Pass?
    }

    private struct Lane: Sendable {
        var breaker: CircuitBreaker
        var passes: Set<Pass> = []
        var waiting: [UInt64] = []

        /// Whether a call may be sent now. Calls from before an outage hold a place, but do not count against the
        /// breaker's allowance.
        var hasAllowance: Bool {
            breaker.allowance == .max || passes.count { breaker.isCurrent($0.admission) } < breaker.allowance
        }
    }

    /// At least 1.
    public let capacity: Int
    /// One per route, in the order of the routes.
    private var lanes: [Lane]
    private var inFlight = 0
    private var lastNumber: UInt64 = 0
    private var lastServed = UpstreamRoute.allCases.count - 1

    public init(
        capacity: Int, settings: CircuitBreaker.Settings = CircuitBreaker.Settings(), since now: ContinuousClock.Instant
    ) {
        self.capacity = max(1, capacity)
        lanes = UpstreamRoute.allCases.map { _ in Lane(breaker: CircuitBreaker(settings: settings, since: now)) }
    }

    public subscript(route: UpstreamRoute) -> CircuitBreaker { self[lane: route].breaker }

    /// Number of calls under way, and of callers that wait for a place.
    public func load(of route: UpstreamRoute) -> (inFlight: Int, waiting: Int) {
        (self[lane: route].passes.count, self[lane: route].waiting.count)
    }

    /// Requests a call.
    public mutating func arrive(_ waiter: UInt64, on route: UpstreamRoute) -> Arrival {
        guard let admission = self[route].admission() else { return .refused }
        guard self[lane: route].waiting.isEmpty, hasPlace(route) else {
            self[lane: route].waiting.append(waiter)
            return .waiting
        }
        return .admitted(pass(on: route, admission))
    }

    /// Cancels a waiting request.
    ///
    /// - Returns: false if it was not waiting.
    public mutating func giveUp(_ waiter: UInt64, on route: UpstreamRoute) -> Bool {
        guard let index = self[lane: route].waiting.firstIndex(of: waiter) else { return false }
        self[lane: route].waiting.remove(at: index)
        return true
    }

    /// Permission for a probe, if the breaker is open and a probe is due.
    public mutating func probe(on route: UpstreamRoute, at now: ContinuousClock.Instant, jitter: Double) -> Pass? {
        guard inFlight < capacity, let admission = self[lane: route].breaker.probe(at: now, jitter: jitter) else {
            return nil
        }
        return pass(on: route, admission)
    }

    /// - Parameters:
    ///   - result: nil if the relay did not make the call, or cancelled it.
    ///   - jitter: random, 0 up to 1.
    /// - Returns: outcomes for waiters; empty if the pass was released before.
    public mutating func end(_ pass: Pass, _ result: CallResult?, at now: ContinuousClock.Instant, jitter: Double)
        -> [Resolution]
    {
        guard self[lane: pass.route].passes.remove(pass) != nil else { return [] }
        inFlight -= 1
        self[lane: pass.route].breaker.ended(pass.admission, result, at: now, jitter: jitter)
        return sendAway(pass.route) + serve()
    }

    private mutating func sendAway(_ route: UpstreamRoute) -> [Resolution] {
        guard self[route].state != .closed else { return [] }
        defer { self[lane: route].waiting = [] }
        return self[lane: route].waiting.map { Resolution(waiter: $0, pass: nil) }
    }

    private mutating func serve() -> [Resolution] {
        var resolutions: [Resolution] = []
        while let (index, route) = nextServable(), let admission = self[route].admission() {
            lastServed = index
            let waiter = self[lane: route].waiting.removeFirst()
            resolutions.append(Resolution(waiter: waiter, pass: pass(on: route, admission)))
        }
        return resolutions
    }

    /// Finds the next route with a servable waiter. The last served route comes last.
    private func nextServable() -> (Int, UpstreamRoute)? {
        let routes = UpstreamRoute.allCases
        return (1...routes.count).lazy.map { (lastServed + $0) % routes.count }
            .first { !lanes[$0].waiting.isEmpty && hasPlace(routes[$0]) }
            .map { ($0, routes[$0]) }
    }

    private func hasPlace(_ route: UpstreamRoute) -> Bool {
        let most = capacity == 1 ? 1 : capacity - max(1, capacity / 4)
        let neighbours = route.neighbours.reduce(0) { $0 + self[lane: $1].passes.count }
        return inFlight < capacity && neighbours < most && self[lane: route].hasAllowance
    }

    private mutating func pass(on route: UpstreamRoute, _ admission: CircuitBreaker.Admission) -> Pass {
        lastNumber += 1
        let pass = Pass(route: route, number: lastNumber, admission: admission)
        self[lane: route].passes.insert(pass)
        inFlight += 1
        return pass
    }

    private subscript(lane route: UpstreamRoute) -> Lane {
        get { lanes[route.index] }
        set { lanes[route.index] = newValue }
    }
}

extension UpstreamRoute {
    /// Routes of the same host, itself included. They share a bound.
    fileprivate var neighbours: [UpstreamRoute] {
        switch self {
        case .payments, .reads: [self]
        case .registrations, .synchronizations: [.registrations, .synchronizations]
        case .googleRegistrations, .googleSynchronizations: [.googleRegistrations, .googleSynchronizations]
        }
    }

    fileprivate var index: Int {
        switch self {
        case .payments: 0
        case .reads: 1
        case .registrations: 2
        case .synchronizations: 3
        case .googleRegistrations: 4
        case .googleSynchronizations: 5
        }
    }
}
