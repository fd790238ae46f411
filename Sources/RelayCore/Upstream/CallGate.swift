/// Limits calls to the upstream: one ``CircuitBreaker`` for each route, and one bound for the calls of all together.
///
/// Admits calls in order of arrival on each route; waiting routes take turns. A route may have three quarters of the
/// places at most, a connector's two routes together, so that calls that hang on one do not stop the others.
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
        /// Resolved later, by a ``Resolution``.
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

        /// Calls from before an outage hold a place, and do not count against who may go now.
        var hasAllowance: Bool {
            breaker.allowance == .max || passes.count { breaker.isCurrent($0.admission) } < breaker.allowance
        }
    }

    /// At least 1.
    public let capacity: Int
    /// In the order of the routes.
    private var lanes: [Lane]
    private var inFlight = 0
    private var lastNumber: UInt64 = 0
    private var lastServed = UpstreamRoute.allCases.count - 1

    public init(capacity: Int, settings: CircuitBreaker.Settings = CircuitBreaker.Settings(), since now: Timestamp) {
        self.capacity = max(1, capacity)
        lanes = UpstreamRoute.allCases.map { _ in Lane(breaker: CircuitBreaker(settings: settings, since: now)) }
    }

    public subscript(route: UpstreamRoute) -> CircuitBreaker { self[lane: route].breaker }

    /// Calls that may be under way, and those that wait for it.
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
    /// - Returns: outcomes for waiters; empty if the pass was given back before.
    public mutating func end(_ pass: Pass, _ result: CallResult?, at now: Timestamp, jitter: Double) -> [Resolution] {
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

    /// The route that was served last comes last.
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
    /// Those that hang together, being one host's, itself included.
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

/// The ways on which the upstream is called. Each fails and recovers by itself.
public enum UpstreamRoute: String, Sendable, CaseIterable {
    case payments = "payment"
    case reads = "entitlements"
    case registrations = "storekit2_purchases"
    case synchronizations = "storekit2_synchronizations"
    case googleRegistrations = "google_purchases"
    case googleSynchronizations = "google_synchronizations"

    /// The phase that waits for it.
    public var phase: Pursuit.Phase {
        switch self {
        case .payments: .forwarding
        case .reads: .watching
        case .registrations: .registering(.storekit2)
        case .synchronizations: .synchronizing(.storekit2)
        case .googleRegistrations: .registering(.google)
        case .googleSynchronizations: .synchronizing(.google)
        }
    }
}

extension Pursuit.Phase {
    /// On which the upstream is called next; nil where it is not.
    public var route: UpstreamRoute? { UpstreamRoute.allCases.first { $0.phase == self } }
}
