/// Observes a pool, for metrics. Called on the pool's event thread: return at once, and never wait.
public protocol PostgresObserver: Sendable {
    /// A call has ended. `duration` counts from the moment it was made, `failure` is nil where it succeeded.
    func queryFinished(lane: PostgresLane, duration: Duration, failure: PostgresError.Code?)
    /// How many connections are up, calls are under way, and calls wait. Called where one of them has changed.
    func loadChanged(lane: PostgresLane, load: PostgresLoad)
    /// A connection is up; `isFirst` is false where it takes the place of one that was up before.
    func connected(lane: PostgresLane, isFirst: Bool)
    /// A connection could not be opened, or was lost.
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

/// The two ways through a pool.
public enum PostgresLane: String, Sendable, Hashable, CaseIterable {
    /// Single statements, pipelined over connections that all callers share.
    case shared
    /// Transactions, each with a connection to itself.
    case exclusive
}

/// How busy a lane is.
public struct PostgresLoad: Sendable, Hashable {
    /// Connections that are up.
    public var connected: Int
    /// Statements sent and not answered yet (shared), or transactions under way (exclusive).
    public var inFlight: Int
    /// Calls that wait for their turn.
    public var waiting: Int
}
