/// The two ways through a pool.
public enum PostgresLane: String, Sendable, Hashable, CaseIterable {
    /// Single statements, pipelined over connections that all callers share.
    case shared
    /// Transactions, each with a connection to itself.
    case exclusive
}
