import Logging
import Postgres
import RelayCore

/// The relay's tables. One extension for each aggregate, in a folder of its own, with its SQL in it.
///
/// Nothing here decides: what a pursuit does next is ``RelayCore/Pursuit``'s to say. Nothing here keeps state either, but
/// for ``clock`` (the database's time) and ``changes`` (who in this process waits for which validation).
public struct RelayStore: Sendable {
    let pool: PostgresPool
    let logger: Logger
    /// The name under which this process writes leases and timelines.
    public let instance: String
    public let clock: DatabaseClock
    public let changes: ChangeHub

    public init(pool: PostgresPool, instance: String, logger: Logger) {
        self.pool = pool
        self.instance = instance
        self.logger = logger
        self.clock = DatabaseClock()
        self.changes = ChangeHub()
    }
}
