import CLibPQ

extension Connection {
    struct Progress {
        var landed: [Flight.Landed] = []
        /// Set if the connection is lost.
        var loss: PostgresError?
    }

    /// Handles a readable or writable socket.
    func ready(_ events: UInt32) -> Progress {
        var progress = Progress()
        let isReadable = events & ~EPOLLOUT.rawValue != 0
        let isAlive = !isReadable || read()
        // Results that arrived before the end of the connection are still delivered.
        let lossOnRead = isAlive ? nil : loss()
        receive(&progress)
        progress.loss = lossOnRead ?? progress.loss ?? flush()
        if progress.loss == nil, PQstatus(raw) != CONNECTION_OK { progress.loss = loss() }
        return progress
    }

    private func read() -> Bool {
        guard PQconsumeInput(raw) == 1 else { return false }
        guard isEncrypted else { return true }
        // The TLS library may have buffered bytes that polling the socket does not show. So this reads once more after
        // the socket is empty.
        for _ in 0..<64 {
            let isLast = !hasInput
            guard PQconsumeInput(raw) == 1 else { return false }
            if isLast { break }
        }
        return true
    }

    private var hasInput: Bool {
        var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return CLibPQ.poll(&poll, 1, 0) > 0
    }

    private func receive(_ progress: inout Progress) {
        var nothings = 0
        // Called even if nothing is in flight: it makes libpq process unsolicited messages.
        while PQisBusy(raw) == 0, !inFlight.isEmpty, progress.loss == nil {
            guard let result = PQgetResult(raw) else {
                if isInScript { endScript(&progress) }
                nothings += 1
                // One nil ends each statement's results. A second one means that libpq expects nothing more from the
                // server.
                if nothings > 1 { progress.loss = PostgresError(.connectionLost, "the server skipped an answer") }
                continue
            }
            nothings = 0
            receive(result, &progress)
        }
        while let notification = PQnotifies(raw) { PQfreemem(notification) }
    }

    private func receive(_ result: OpaquePointer, _ progress: inout Progress) {
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            land(&progress)
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            passOver()
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            take(QueryResult(taking: result))
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE:
            refuse(PostgresError(result: result))
            PQclear(result)
        default:
            PQclear(result)
            progress.loss = PostgresError(.connectionLost, "COPY is not possible here")
        }
    }

    private func take(_ result: QueryResult) {
        inFlight.changeFirst { flight in
            if flight.answered < flight.steps.count, case .execute = flight.steps[flight.answered] {
                flight.results.append(result)
            }
            flight.answered += 1
        }
    }

    /// Skips a step that the server did not run because an earlier statement of the flight failed.
    private func passOver() {
        guard let flight = inFlight.first else { return }
        if flight.answered < flight.steps.count, case .prepare(let key, let name) = flight.steps[flight.answered] {
            cache.forget(key, name: name)
        }
        inFlight.changeFirst { $0.answered += 1 }
    }

    private func refuse(_ error: PostgresError) {
        guard let flight = inFlight.first else { return }
        inFlight.changeFirst { flight in
            flight.error = flight.error ?? error
            flight.answered += 1
        }
        if ConnectionFate.isOver(after: error.sqlState) {
            retirement = PostgresError(.connectionLost, error.serverMessage, sqlState: error.sqlState)
        }
        guard flight.answered < flight.steps.count else { return }
        switch flight.steps[flight.answered] {
        case .prepare(let key, let name): cache.forget(key, name: name)
        case .execute(let key, let name?) where error.isStalePlan:
            cache.forget(key, name: name)
            if error.sqlState != "26000" { outdated.append(name) }
        case .execute: break
        }
    }

    private func land(_ progress: inout Progress) {
        lastProgress = .now
        let isUnconfirmed = notices.takeUnconfirmed()
        guard var flight = inFlight.popFirst() else { return }
        if isUnconfirmed, flight.error == nil {
            flight.error = PostgresError(
                .timedOut, "committed here, and not confirmed by the synchronous standby", outcomeUnknown: true)
        }
        progress.landed.append(flight.landed)
    }

    private func endScript(_ progress: inout Progress) {
        isInScript = false
        land(&progress)
        if PQenterPipelineMode(raw) != 1 { progress.loss = loss() }
    }
}

/// Decides whether a server error ends the use of a connection.
enum ConnectionFate {
    /// Whether to close the connection once it is idle and open another, possibly to another server.
    ///
    /// Classes and codes are those of the PostgreSQL manual, appendix A.
    static func isOver(after sqlState: String?) -> Bool {
        guard let sqlState else { return false }
        // 25006 read-only: the server is no longer the primary. 57P0x: shutdown, crash, start-up, database dropped,
        // idle timeout. 08 connection exception: a pooler reports that it lost its server. 34000: a pooler lost a
        // statement in progress.
        return sqlState == "25006" || sqlState == "34000" || sqlState.hasPrefix("57P") || sqlState.hasPrefix("08")
    }
}
