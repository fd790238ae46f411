extension ExclusiveLane {
    /// Runs statements in one flight, or a script, and returns one result for each statement (none for a script).
    func run(_ lease: UInt64, _ work: ConnectionLease.Work) async throws -> [QueryResult] {
        try await withCheckedThrowingContinuation { continuation in
            if let refusal = refusal(lease) {
                settle()
                return continuation.resume(throwing: refusal)
            }
            let id = settings.nextID()
            calls[id] = Call(lease: lease, continuation: continuation, made: .now, work: work)
            leases[lease]?.queue.append((id, work))
            send(lease)
            settle()
        }
    }

    /// Why the transaction accepts no more work.
    private func refusal(_ id: UInt64) -> (any Error)? {
        if Task.isCancelled { abort(id, CancellationError()) }
        guard let held = leases[id], held.state == .active else {
            return leases[id]?.error ?? PostgresError(.transactionOver, "the transaction has ended already")
        }
        guard held.queue.count < settings.configuration.maxWaiting else {
            return PostgresError(.overloaded, "too many statements wait in one transaction")
        }
        return nil
    }

    /// Sends what can be sent now. A script goes alone: after earlier work is answered, and before later work is sent.
    func send(_ id: UInt64) {
        while let lease = leases[id], lease.state == .active, let next = lease.queue.first,
            let connection = members[lease.slot], !connection.isInScript
        {
            let loss: PostgresError?
            switch next.work {
            case .statements(var statements, let commits):
                if !lease.hasBegun { statements.insert(Self.begin, at: 0) }
                calls[next.id]?.skipped = lease.hasBegun ? 0 : 1
                if commits {
                    statements.append(Self.commit)
                    startCommitting(id, in: next.id)
                }
                loss = connection.send(next.id, statements)
            case .script(let sql):
                if !lease.hasBegun, let loss = connection.send(settings.nextID(), [Self.begin]) {
                    return drop(lease.slot, loss)
                }
                leases[id]?.hasBegun = true
                guard connection.inFlight.isEmpty else { return }
                loss = connection.sendScript(next.id, sql)
            }
            if let loss { return drop(lease.slot, loss) }
            leases[id]?.hasBegun = true
            _ = leases[id]?.queue.popFirst()
        }
    }

    func finishCall(_ id: UInt64, _ result: Result<[QueryResult], any Error>) {
        guard let call = calls.removeValue(forKey: id) else { return }
        observe(call.made, result)
        call.continuation.resume(with: result.map { Array($0.dropFirst(call.skipped).dropLast(call.commits ? 1 : 0)) })
    }

    func landed(_ flight: Flight.Landed, _ slot: Int) {
        if let lease = endings.removeValue(forKey: flight.id) {
            ended(lease, flight)
        } else {
            // Before COMMIT is sent, a transaction has no lasting effect, whatever failed.
            let mayCommit = calls[flight.id]?.mayCommit == true
            finishCall(flight.id, flight.outcome.mapError { mayCommit ? $0 : $0.with(outcomeUnknown: false) })
        }
        for (id, lease) in leases where lease.slot == slot {
            send(id)
            cleanUp(id)
        }
    }

    static let begin = EncodedStatement(plain: "BEGIN")
    static let commit = EncodedStatement(plain: "COMMIT")
    static let rollback = EncodedStatement(plain: "ROLLBACK")
}
