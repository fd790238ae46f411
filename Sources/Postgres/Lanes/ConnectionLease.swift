/// One transaction's hold on a connection.
struct ConnectionLease {
    enum State {
        case active
        /// COMMIT is on its way: from here on nothing may stop it.
        case committing
        /// To be rolled back, or being so.
        case aborting
        /// The connection has been given back, or is lost.
        case over
    }

    enum Work {
        /// `commits`: COMMIT goes with them, and nothing comes after it.
        case statements([EncodedStatement], commits: Bool)
        case script(String)
    }

    var slot: Int
    /// Deadline of the whole lease.
    var deadline: ContinuousClock.Instant
    var state = State.active
    var hasBegun = false
    /// Not sent yet: what waits for a script to end, or a script that waits for what was sent before it.
    var queue = FIFO<(id: UInt64, work: Work)>()
    /// The flight that COMMIT or ROLLBACK is in.
    var ending: UInt64?
    /// A cancel request is on its way. Until it is over the connection may not be used for anything else.
    var isCancelling = false
    /// When the connection is given up if it is not clean by then.
    var cleanUntil: ContinuousClock.Instant?
    /// Why it ended, where it did not end well.
    var error: (any Error)?
    /// Resumed when it is over.
    var onEnd: [CheckedContinuation<Void, Never>] = []
}
