/// How busy a lane is.
public struct PostgresLoad: Sendable, Hashable {
    /// Connections that are up.
    public var connected: Int
    /// Statements sent and not answered yet (shared), or transactions under way (exclusive).
    public var inFlight: Int
    /// Calls that wait for their turn.
    public var waiting: Int

    public init(connected: Int, inFlight: Int, waiting: Int) {
        self.connected = connected
        self.inFlight = inFlight
        self.waiting = waiting
    }
}
