/// Observes a pool, for metrics. Methods are called on the pool's event thread: they must return at once and never
/// wait.
public protocol PostgresObserver: Sendable {
    /// Called when a call has ended. `duration` counts from the start of the call; `failure` is nil if it succeeded.
    func queryFinished(lane: PostgresLane, duration: Duration, failure: PostgresError.Code?)
    /// Called when a lane's load has changed: open connections, calls in progress, waiting calls.
    func loadChanged(lane: PostgresLane, load: PostgresLoad)
    /// Called when a connection is up; `isFirst` is false if it replaces an earlier one.
    func connected(lane: PostgresLane, isFirst: Bool)
    /// Called when a connection could not be opened, or was lost.
    func disconnected(lane: PostgresLane, error: PostgresError)
}

extension PostgresObserver {
    public func queryFinished(lane: PostgresLane, duration: Duration, failure: PostgresError.Code?) {}
    public func loadChanged(lane: PostgresLane, load: PostgresLoad) {}
    public func connected(lane: PostgresLane, isFirst: Bool) {}
    public func disconnected(lane: PostgresLane, error: PostgresError) {}
}

/// Observes nothing.
public struct SilentPostgresObserver: PostgresObserver {
    public init() {}
}

/// The two kinds of calls in a pool.
public enum PostgresLane: String, Sendable, Hashable, CaseIterable {
    /// Single statements, pipelined over connections that all callers share.
    case shared
    /// Transactions, each with its own connection.
    case exclusive
}

/// Load of a lane.
public struct PostgresLoad: Sendable, Hashable {
    /// Number of open connections.
    public var connected: Int
    /// Statements sent and not yet answered (shared), or open transactions (exclusive).
    public var inFlight: Int
    /// Number of waiting calls.
    public var waiting: Int
}
