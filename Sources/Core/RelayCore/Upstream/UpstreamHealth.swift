/// Health of one of the upstream's routes, derived from the results of its calls. ``CircuitBreaker`` updates it.
///
///     ok ──one failure──► degraded ──five in a row──► down
///      ▲                     │                         │
///      └──────────── a success ◄───────────────────────┘      misconfigured: whatever the state, until a success
public struct UpstreamHealth: Sendable, Equatable {
    /// States from the best to the worst.
    public enum State: String, Sendable, CaseIterable, Comparable {
        case ok, degraded, down, misconfigured

        public static func < (left: Self, right: Self) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    public enum Outcome: Sendable, Equatable {
        case success
        case failure(String)
        case misconfigured(String)
    }

    /// Number of failures in a row after which the route counts as down.
    public static let failuresToDown = 5

    public private(set) var state = State.ok
    public private(set) var since: ContinuousClock.Instant
    public private(set) var lastError: String?
    public private(set) var lastCallAt: ContinuousClock.Instant?
    private var failures = 0

    public init(since: ContinuousClock.Instant) {
        self.since = since
    }

    /// - Returns: true where the state changed.
    public mutating func record(_ outcome: Outcome, at now: ContinuousClock.Instant) -> Bool {
        let before = state
        lastCallAt = now
        switch outcome {
        case .success:
            failures = 0
            lastError = nil
            state = .ok
        case .failure(let why):
            failures += 1
            lastError = why
            // A failure of another kind does not show that the relay's token and address are right again.
            if state != .misconfigured { state = failures >= Self.failuresToDown ? .down : .degraded }
        case .misconfigured(let why):
            failures += 1
            lastError = why
            state = .misconfigured
        }
        if state != before { since = now }
        return state != before
    }
}
