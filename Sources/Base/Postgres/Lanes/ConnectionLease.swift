/// A transaction's exclusive use of a connection.
struct ConnectionLease {
    enum State {
        case active
        /// COMMIT is in flight: only the loss of the connection or the deadline ends it now.
        case committing
        /// Rollback is pending or in flight.
        case aborting
        /// The connection was returned, or is lost.
        case over
    }

    enum Work {
        /// `commits`: COMMIT is sent with them, and nothing follows it.
        case statements([EncodedStatement], commits: Bool)
        case script(String)
    }

    var slot: Int
    /// Deadline of the whole lease.
    var deadline: ContinuousClock.Instant
    var state = State.active
    var hasBegun = false
    /// Unsent work: statements that wait for a script to end, or a script that waits for earlier statements.
    var queue = FIFO<(id: UInt64, work: Work)>()
    /// The flight with COMMIT or ROLLBACK.
    var ending: UInt64?
    /// A cancel request is in progress. Until it ends, the connection must not be used for anything else.
    var isCancelling = false
    /// Time by which the connection must be clean, else it is closed.
    var cleanUntil: ContinuousClock.Instant?
    /// Why the transaction failed, if it did.
    var error: (any Error)?
    /// Resumed when the lease is over.
    var onEnd: [CheckedContinuation<Void, Never>] = []
}
