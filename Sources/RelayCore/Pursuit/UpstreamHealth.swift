/// How one of the upstream's routes does, judged by what its calls came to.
///
///     ok ──one failure──► degraded ──five in a row──► down
///      ▲                     │                         │
///      └──────────── a success ◄───────────────────────┘      misconfigured: whatever the state, until a success
public struct UpstreamHealth: Sendable, Equatable {
    public enum State: String, Sendable {
        case ok, degraded, down, misconfigured
    }

    public enum Outcome: Sendable, Equatable {
        case success
        case failure(String)
        case misconfigured(String)
    }

    /// This many failures in a row, and the route counts as down.
    public static let failuresToDown = 5

    public private(set) var state = State.ok
    public private(set) var since: Timestamp
    public private(set) var lastError: String?
    private var failures = 0

    public init(since: Timestamp) {
        self.since = since
    }

    /// - Returns: true where the state changed.
    public mutating func record(_ outcome: Outcome, at now: Timestamp) -> Bool {
        let before = state
        switch outcome {
        case .success:
            failures = 0
            lastError = nil
            state = .ok
        case .failure(let why):
            failures += 1
            lastError = why
            // A failure of another kind does not say that our token or address is right by now.
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
