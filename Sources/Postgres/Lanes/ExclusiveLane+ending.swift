extension ExclusiveLane {
    /// How long a connection has to become clean before it is given up, and how often a cancel request is repeated.
    private static let cleanTime: Duration = .seconds(5)
    private static let cancelInterval: Duration = .milliseconds(250)
    /// What COMMIT is given where the transaction's own time is nearly up.
    private static let commitTime: Duration = .seconds(2)

    /// Commits, and returns when that is done. A transaction that sent nothing has nothing to commit.
    func commit(_ id: UInt64) async throws {
        if Task.isCancelled { abort(id, CancellationError()) }
        if let lease = leases[id], lease.state == .active {
            if !lease.hasBegun {
                release(id)
            } else if lease.queue.isEmpty, let connection = members[lease.slot] {
                let flight = settings.nextID()
                startCommitting(id, in: flight)
                if let loss = connection.send(flight, [Self.commit]) { drop(lease.slot, loss) }
            } else {
                abort(
                    id, PostgresError(.transactionOver, "statements were still waiting at the end of the transaction"))
            }
        }
        settle()
        await over(id)
        if let error = leases.removeValue(forKey: id)?.error { throw error }
    }

    /// Rolls back, and returns when the connection is clean or gone.
    func rollBack(_ id: UInt64) async {
        abort(id, PostgresError(.transactionOver, "the transaction was rolled back"))
        settle()
        await over(id)
        leases[id] = nil
    }

    /// Marks the transaction as committing: only the connection's loss or the deadline ends it now.
    func startCommitting(_ id: UInt64, in flight: UInt64) {
        guard let lease = leases[id] else { return }
        leases[id]?.state = .committing
        leases[id]?.ending = flight
        endings[flight] = id
        deadlines.set(id, max(lease.deadline, .now + Self.commitTime))
    }

    private func over(_ id: UInt64) async {
        await withCheckedContinuation { continuation in
            guard let lease = leases[id], lease.state != .over else { return continuation.resume() }
            leases[id]?.onEnd.append(continuation)
        }
    }

    /// Ends a transaction that is not being committed yet: its calls fail with `error`, and clean-up begins.
    func abort(_ id: UInt64, _ error: any Error) {
        guard let lease = leases[id], lease.state == .active else { return }
        leases[id]?.state = .aborting
        leases[id]?.error = error
        leases[id]?.queue = FIFO()
        leases[id]?.cleanUntil = .now + Self.cleanTime
        deadlines.set(id, .now + Self.cancelInterval)
        for (call, value) in calls where value.lease == id { finishCall(call, .failure(error)) }
        cancelOnServer(id)
        cleanUp(id)
    }

    private func cancelOnServer(_ id: UInt64) {
        guard let lease = leases[id], !lease.isCancelling, let connection = members[lease.slot],
            !connection.inFlight.isEmpty, let request = connection.cancelRequest()
        else { return }
        leases[id]?.isCancelling = true
        Task {
            try? await HelperThread.run { request.send() }
            self.cancelled(id)
        }
    }

    private func cancelled(_ id: UInt64) {
        leases[id]?.isCancelling = false
        cleanUp(id)
        settle()
    }

    /// Sends ROLLBACK once the connection is quiet and no cancel request can hit it any more.
    func cleanUp(_ id: UInt64) {
        guard let lease = leases[id], lease.state == .aborting, !lease.isCancelling, lease.ending == nil,
            let connection = members[lease.slot], connection.inFlight.isEmpty
        else { return }
        guard lease.hasBegun else { return release(id) }
        let flight = settings.nextID()
        leases[id]?.ending = flight
        endings[flight] = id
        if let loss = connection.send(flight, [Self.rollback]) { drop(lease.slot, loss) }
    }

    /// A flight that ends with COMMIT or ROLLBACK has been answered.
    func ended(_ id: UInt64, _ flight: Flight.Landed) {
        guard let lease = leases[id], lease.state != .over else { return }
        guard lease.state == .committing else { return release(id) }
        let outcome = flight.outcome.flatMap { results -> Result<[QueryResult], PostgresError> in
            // This is how the server answers to COMMIT after an error in the transaction.
            results.last?.commandTag == "COMMIT" ? .success(results) : .failure(Self.hadFailed)
        }
        if case .failure(let error) = outcome {
            if calls[flight.id] != nil, members[lease.slot]?.isTransactionFailed == true {
                // COMMIT was never reached. What is to become of the transaction is its caller's matter again.
                leases[id]?.state = .active
                leases[id]?.ending = nil
                return finishCall(flight.id, .failure(error.with(outcomeUnknown: false)))
            }
            leases[id]?.error = error
        }
        release(id)
        // Who commits with the last statements has nothing more to ask.
        if case .success = outcome, calls[flight.id] != nil { leases[id] = nil }
        finishCall(flight.id, outcome.mapError { $0 })
    }

    private static let hadFailed = PostgresError(
        .server, "the transaction was rolled back because a statement in it had failed", sqlState: "25P02")

    /// The transaction is over on the server too. A connection that is not clean goes.
    func release(_ id: UInt64) {
        guard let lease = leases[id] else { return }
        end(id)
        guard let connection = members[lease.slot] else { return }
        if let reason = connection.retirement {
            drop(lease.slot, reason)
        } else if !connection.isTransactionIdle, lease.hasBegun {
            drop(lease.slot, PostgresError(.connectionLost, "the connection could not be cleaned"))
        } else if let loss = connection.forgetOutdated(settings.nextID()) {
            drop(lease.slot, loss)
        } else {
            free.append(lease.slot)
        }
    }

    private func end(_ id: UInt64) {
        deadlines.remove(id)
        guard let lease = leases[id] else { return }
        leases[id]?.state = .over
        leases[id]?.onEnd = []
        for continuation in lease.onEnd { continuation.resume() }
    }

    /// The deadline of a transaction, or the next look at one that is being ended.
    func leaseExpired(_ id: UInt64, _ lease: ConnectionLease, _ now: ContinuousClock.Instant) {
        switch lease.state {
        case .active: abort(id, PostgresError(.timedOut, "the transaction's deadline has passed"))
        case .committing:
            leases[id]?.error = PostgresError(.timedOut, "no answer to COMMIT", outcomeUnknown: true)
            drop(lease.slot, PostgresError(.connectionLost, "no answer to COMMIT"))
        case .aborting:
            if let limit = lease.cleanUntil, limit <= now {
                return drop(lease.slot, PostgresError(.connectionLost, "a transaction could not be ended"))
            }
            // A cancel request hits one statement of several that may have been in flight, or comes between two.
            deadlines.set(id, now + Self.cancelInterval)
            if lease.ending == nil { cancelOnServer(id) }
        case .over: break
        }
    }

    /// The connection under a transaction is gone.
    func lost(_ id: UInt64, _ error: PostgresError) {
        guard let lease = leases[id], lease.state != .over else { return }
        let reason = lease.error ?? error.with(outcomeUnknown: lease.state == .committing)
        leases[id]?.error = reason
        for (call, value) in calls where value.lease == id {
            finishCall(call, .failure(value.commits ? reason : error.with(outcomeUnknown: value.mayCommit)))
        }
        if let ending = lease.ending { endings[ending] = nil }
        end(id)
    }
}
