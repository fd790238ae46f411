import Logging
import NIOConcurrencyHelpers
import RelayCore

/// The circuit breakers of a queue, one for each route. They use this process's monotonic clock.
final class Breakers<Route: Hashable & Sendable>: Sendable {
    /// Permission to call in a route: any number of calls while the breaker is closed, or one probe.
    struct Permit: Sendable, Hashable {
        let route: Route
        fileprivate let number: UInt64
        fileprivate let admission: CircuitBreaker.Admission
    }

    private struct State {
        var breakers: [Route: CircuitBreaker] = [:]
        var probes: Set<Permit> = []
        var lastNumber: UInt64 = 0
    }

    private let settings: CircuitBreaker.Settings
    private let report: @Sendable (Route, BreakerChange) -> Void
    private let state = NIOLockedValueBox(State())

    /// - Parameter report: called after the end of each call.
    init(
        settings: CircuitBreaker.Settings = CircuitBreaker.Settings(),
        _ report: @escaping @Sendable (Route, BreakerChange) -> Void
    ) {
        self.settings = settings
        self.report = report
    }

    var hasOpen: Bool { state.withLockedValue { $0.breakers.values.contains { $0.state != .closed } } }

    /// Limit of the next claim in a route: the available number, or one probe if the breaker is open and one is due.
    ///
    /// - Parameter available: returns how many more rows fit if the breaker allows this many calls at once.
    func allowance(in route: Route, available: (_ allowance: Int) -> Int) -> ClaimAllowance<Permit>? {
        let (now, jitter) = (ContinuousClock.now, Double.random(in: 0..<1))
        return state.withLockedValue { state in
            var breaker = state.breakers[route] ?? CircuitBreaker(settings: settings, since: now)
            defer { state.breakers[route] = breaker }
            let limit = available(breaker.allowance)
            if limit > 0, let admission = breaker.admission() {
                return ClaimAllowance(limit: limit, permit: Permit(route: route, number: 0, admission: admission))
            }
            guard breaker.state != .closed, available(.max) > 0, let probe = breaker.probe(at: now, jitter: jitter)
            else {
                return nil
            }
            state.lastNumber += 1
            let permit = Permit(route: route, number: state.lastNumber, admission: probe)
            state.probes.insert(permit)
            return ClaimAllowance(limit: 1, permit: permit, isProbe: true)
        }
    }

    /// Records the result of a call. A probe counts only once.
    ///
    /// - Parameter result: nil if no call was made, or if this process aborted it.
    func end(_ permit: Permit, _ result: CallResult? = nil) {
        let (now, jitter) = (ContinuousClock.now, Double.random(in: 0..<1))
        let change: BreakerChange? = state.withLockedValue { state in
            guard let before = state.breakers[permit.route],
                !permit.admission.isProbe || state.probes.remove(permit) != nil
            else { return nil }
            var after = before
            after.ended(permit.admission, result, at: now, jitter: jitter)
            state.breakers[permit.route] = after
            return BreakerChange(before: before, after: after)
        }
        if let change { report(permit.route, change) }
    }

    /// Removes the breakers of all other routes.
    func keep(only routes: Set<Route>) {
        state.withLockedValue { state in
            guard state.breakers.contains(where: { !routes.contains($0.key) }) else { return }
            state.breakers = state.breakers.filter { routes.contains($0.key) }
            state.probes = state.probes.filter { routes.contains($0.route) }
        }
    }
}

/// State of a circuit breaker before and after a call's end.
struct BreakerChange: Sendable {
    enum Event: Sendable {
        case opened, closed
    }

    var before: CircuitBreaker
    var after: CircuitBreaker

    /// The change of state; nil if the breaker stayed open or stayed closed.
    var event: Event? {
        switch (before.state == .closed, after.state == .closed) {
        case (true, false): .opened
        case (false, true): .closed
        case (true, true), (false, false): nil
        }
    }

    /// Logs that it opened or closed.
    func log(to logger: Logger, opened: String, closed: String, _ metadata: (Event) -> Logger.Metadata) {
        switch event {
        case .opened: logger.warning("\(opened)", metadata: metadata(.opened))
        case .closed: logger.notice("\(closed)", metadata: metadata(.closed))
        case nil: break
        }
    }
}
