/// Transactions, each of which has a connection to itself until it is committed or rolled back.
///
/// A transaction that is cancelled, or whose deadline passes, is ended here and at once: its calls fail, the statement that
/// runs is cancelled on the server, and the connection is rolled back and handed on, whatever the caller does meanwhile.
///
/// What a continuation waits for is looked at inside its closure and never before it: a task that prefers an executor of its
/// own leaves this one between the two, and what it waits for may happen then.
actor ExclusiveLane: ConnectionLane {
    struct Waiter {
        let continuation: CheckedContinuation<Void, any Error>
        let waitDeadline: ContinuousClock.Instant
    }

    struct Call {
        let lease: UInt64
        let continuation: CheckedContinuation<[QueryResult], any Error>
        let made: ContinuousClock.Instant
        /// Results that are ours: BEGIN's.
        var skipped = 0
        /// COMMIT is in the same flight, and its result is ours too.
        let commits: Bool
        /// It may have come to stay although no answer came: so it is with what holds a COMMIT, as a script may.
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
    /// Leases whose COMMIT or ROLLBACK is in a flight, by flight.
    var endings: [UInt64: UInt64] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { settings.loop.asUnownedSerialExecutor() }

    init(settings: LaneSettings) { self.settings = settings }

    /// Waits for a connection. The lease has the number `id`, and must be ended by ``commit(_:)`` or ``rollBack(_:)``.
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

    /// Why no more transactions can wait, or not this one.
    private var refusal: (any Error)? {
        // The flag is set before the handler runs, and the handler's job comes after this one.
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
