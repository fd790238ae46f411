/// Told what a pool does, for metrics. Called on the pool's event thread: return at once, and never wait.
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
