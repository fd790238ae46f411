import NIOConcurrencyHelpers

extension SharedLane {
    /// Sets the call's deadline. While no connection is up, it waits at most for the configured `connectionWait`.
    func setDeadline(_ id: UInt64, _ call: Call, isUp: Bool) {
        deadlines.set(id, isUp ? call.deadline : min(call.deadline, .now + settings.configuration.connectionWait))
    }

    func finish(_ id: UInt64, _ result: Result<PostgresRows, any Error>) {
        guard let call = calls.removeValue(forKey: id) else { return }
        deadlines.remove(id)
        waiting.remove(id)
        observe(call.made, result)
        switch result {
        case .success(let rows):
            call.exchange.withLockedValue { $0.rows = rows }
            call.continuation.resume()
        case .failure(let error): call.continuation.resume(throwing: error)
        }
    }

    /// Marks the call's statement as abandoned if it is in flight: it continues without a caller.
    func letGo(_ id: UInt64) {
        guard let slot = calls[id]?.slot else { return }
        members[slot]?.abandoned += 1
        abandoned.insert(id)
    }

    func landed(_ flight: Flight.Landed, _ slot: Int) {
        if abandoned.remove(flight.id) != nil { members[slot]?.abandoned -= 1 }
        guard var call = calls[flight.id] else { return }
        switch flight.outcome {
        case .success(let results):
            guard let result = results.first else {
                return finish(flight.id, .failure(PostgresError(.connectionLost, "an answer without a result")))
            }
            finish(flight.id, .success(PostgresRows(result: result, vault: settings.configuration.vault)))
        case .failure(let error) where error.isStalePlan && !call.isRepeated:
            // The server refused before it did anything, so a retry is safe. The retry is unnamed, because a statement
            // that another call prepares meanwhile may be stale too.
            call.isRepeated = true
            call.statement.isPrepared = false
            call.slot = nil
            calls[flight.id] = call
            waiting.append(flight.id)
        case .failure(let error):
            finish(flight.id, .failure(explained(error, call)))
        }
    }

    /// Distinguishes the two causes of SQLSTATE 57014: a time limit, and another client's cancellation.
    private func explained(_ error: PostgresError, _ call: Call) -> PostgresError {
        guard error.sqlState == "57014" else { return error }
        let isOverTime = call.made.duration(to: .now) >= settings.configuration.statementTimeout * 0.9
        return PostgresError(isOverTime ? .timedOut : .cancelled, error.serverMessage, sqlState: error.sqlState)
    }

    func expired(_ id: UInt64, _ now: ContinuousClock.Instant) {
        guard let call = calls[id] else { return }
        if call.slot != nil {
            letGo(id)
            finish(id, .failure(PostgresError(.timedOut, "no answer within the deadline", outcomeUnknown: true)))
        } else if readyCount > 0 {
            finish(id, .failure(PostgresError(.timedOut, "no connection was free within the deadline")))
        } else {
            finish(id, .failure(notConnected))
        }
    }

    private var notConnected: PostgresError {
        let reason = lastConnectError.map { ": \($0.serverMessage)" } ?? ""
        return PostgresError(.notConnected, PostgresError.noConnection + reason, sqlState: lastConnectError?.sqlState)
    }
}
