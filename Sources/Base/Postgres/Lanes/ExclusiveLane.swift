/// Transactions, each of which has its own connection until it is committed or rolled back.
///
/// If a transaction is cancelled, or its deadline passes, the lane ends it at once, whatever the caller does. Its calls
/// fail, the running statement is cancelled on the server, and the connection is rolled back and reused.
///
/// State on which a continuation depends is checked inside the continuation's closure. Before the closure runs, a task
/// with its own preferred executor leaves this actor, and the state may change.
actor ExclusiveLane: ConnectionLane {
    struct Waiter {
        let continuation: CheckedContinuation<Void, any Error>
        let waitDeadline: ContinuousClock.Instant
    }

    struct Call {
        let lease: UInt64
        let continuation: CheckedContinuation<[QueryResult], any Error>
        let made: ContinuousClock.Instant
        /// Number of leading results to drop: that of BEGIN.
        var skipped = 0
        /// Whether the flight ends with COMMIT, whose result is dropped.
        let commits: Bool
        /// Whether the call may have committed without an answer: it includes COMMIT, or is a script.
        let mayCommit: Bool

        init(
            lease: UInt64, continuation: CheckedContinuation<[QueryResult], any Error>,
            made: ContinuousClock.Instant, work: ConnectionLease.Work
        ) {
            self.lease = lease
            self.continuation = continuation
            self.made = made
            switch work {
            case .statements(_, let commits): (self.commits, mayCommit) = (commits, commits)
            case .script: (commits, mayCommit) = (false, true)
            }
        }
    }

    nonisolated let settings: LaneSettings
    var members: [Int: Connection] = [:]
    var setUps: [UInt64: Int] = [:]
    var deadlines = Deadlines()
    var lastConnectError: PostgresError?
    var knownSlots: Set<Int> = []
    var isClosed = false
    var lastLoad = PostgresLoad(connected: 0, inFlight: 0, waiting: 0)

    var waiting = WaitQueue()
    var waiters: [UInt64: Waiter] = [:]
    var free: [Int] = []
    var leases: [UInt64: ConnectionLease] = [:]
    var calls: [UInt64: Call] = [:]
    /// Lease of each flight with COMMIT or ROLLBACK.
    var endings: [UInt64: UInt64] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { settings.loop.asUnownedSerialExecutor() }

    init(settings: LaneSettings) { self.settings = settings }

    /// Waits for a connection. The lease gets the number `id`, and must be ended by ``commit(_:)`` or ``rollBack(_:)``.
    func acquire(_ id: UInt64, deadline: ContinuousClock.Instant) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            if let refusal { return continuation.resume(throwing: refusal) }
            let waiter = Waiter(continuation: continuation, waitDeadline: deadline)
            waiters[id] = waiter
            waiting.append(id)
            setDeadline(id, waiter, isUp: readyCount > 0)
            settle()
        }
    }

    /// Why the lane accepts no more waiting transactions, or not this one.
    private var refusal: (any Error)? {
        // A cancellation before this point found no waiter. The job of a later one runs after this and finds it.
        if Task.isCancelled { return CancellationError() }
        if isClosed { return PostgresError(.closed, "the pool was shut down") }
        if let lastConnectError, lastConnectError.code == .invalidConfiguration { return lastConnectError }
        guard waiting.count < settings.configuration.maxWaiting else {
            return PostgresError(.overloaded, "too many transactions wait for a connection")
        }
        return nil
    }

    nonisolated func cancel(_ id: UInt64) {
        settings.loop.execute {
            self.assumeIsolated { lane in
                lane.finishWaiting(id, .failure(CancellationError()))
                lane.abort(id, CancellationError())
                lane.settle()
            }
        }
    }

    func failAll(_ error: PostgresError) {
        for id in Array(waiters.keys) { finishWaiting(id, .failure(error)) }
    }
}
