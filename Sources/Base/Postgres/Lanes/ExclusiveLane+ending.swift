extension ExclusiveLane {
    /// Time in which a connection must become clean before it is closed, and interval of cancel requests.
    private static let cleanTime: Duration = .seconds(5)
    private static let cancelInterval: Duration = .milliseconds(250)
    /// Minimum time for COMMIT if the transaction's own time is nearly over.
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

    /// Ends a transaction that is not committing yet: its calls fail with `error`, and cleanup begins.
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

    /// Sends ROLLBACK once nothing is in flight and no cancel request can hit it any more.
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

    /// Handles the answer to a flight that ends with COMMIT or ROLLBACK.
    func ended(_ id: UInt64, _ flight: Flight.Landed) {
        guard let lease = leases[id], lease.state != .over else { return }
        guard lease.state == .committing else { return release(id) }
        let outcome = flight.outcome.flatMap { results -> Result<[QueryResult], PostgresError> in
            // After an error in the transaction, the server answers COMMIT with another tag.
            results.last?.commandTag == "COMMIT" ? .success(results) : .failure(Self.hadFailed)
        }
        if case .failure(let error) = outcome {
            if calls[flight.id] != nil, members[lease.slot]?.isTransactionFailed == true {
                // COMMIT was not reached, so the caller decides again how the transaction ends.
                leases[id]?.state = .active
                leases[id]?.ending = nil
                return finishCall(flight.id, .failure(error.with(outcomeUnknown: false)))
            }
            leases[id]?.error = error
        }
        release(id)
        // A caller that commits with its last statements makes no further calls.
        if case .success = outcome, calls[flight.id] != nil { leases[id] = nil }
        finishCall(flight.id, outcome.mapError { $0 })
    }

    private static let hadFailed = PostgresError(
        .server, "the transaction was rolled back because a statement in it had failed", sqlState: "25P02")

    /// Ends a lease whose transaction has ended on the server too. A connection that is not clean is closed.
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

    /// Handles the deadline of a transaction, or the next check of one that is ending.
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
            // A cancel request hits only one of several statements in flight, or arrives between two. So it is
            // repeated.
            deadlines.set(id, now + Self.cancelInterval)
            if lease.ending == nil { cancelOnServer(id) }
        case .over: break
        }
    }

    /// Ends a transaction whose connection was lost.
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
