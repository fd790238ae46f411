import CLibPQ

extension Connection {
    /// Sends statements that are answered together: if one fails, the later ones are not run.
    ///
    /// - Returns: the reason if the connection is lost; the flight then counts as not sent.
    func send(_ id: UInt64, _ statements: [EncodedStatement]) -> PostgresError? {
        var steps: [Flight.Step] = []
        for statement in statements {
            guard queue(statement, &steps) else { return loss() }
        }
        guard PQpipelineSync(raw) == 1 else { return loss() }
        launch(Flight(id: id, steps: steps))
        return flush()
    }

    /// Sends a text of several statements. Only while nothing is in flight: the protocol of scripts has no pipeline
    /// mode.
    func sendScript(_ id: UInt64, _ sql: String) -> PostgresError? {
        guard PQexitPipelineMode(raw) == 1, PQsendQuery(raw, sql) == 1 else { return loss() }
        isInScript = true
        launch(Flight(id: id, steps: []))
        return flush()
    }

    /// Makes the server discard outdated prepared statements and plans. Not in a failed transaction, which would refuse
    /// it.
    func forgetOutdated(_ id: UInt64) -> PostgresError? {
        if plans?.isOver() == true, let loss = send(id, [EncodedStatement(plain: "DISCARD PLANS")]) { return loss }
        while let name = outdated.popLast() {
            if let loss = send(id, [EncodedStatement(plain: "DEALLOCATE \(name)")]) { return loss }
        }
        return nil
    }

    private func launch(_ flight: Flight) {
        if inFlight.isEmpty { lastProgress = .now }
        inFlight.append(flight)
    }

    private func queue(_ statement: EncodedStatement, _ steps: inout [Flight.Step]) -> Bool {
        let key = statement.key
        let count = Int32(key.types.count)
        guard statement.isPrepared else {
            steps.append(.execute(key, name: nil))
            return statement.withValues { values in
                PQsendQueryParams(raw, key.sql, count, key.types, values, statement.lengths, statement.formats, 1)
            } == 1
        }
        let name: String
        switch cache.look(up: key) {
        case .known(let known): name = known
        case .new(let new, let evicted):
            name = new
            if let evicted { outdated.append(evicted) }
            steps.append(.prepare(key, name: name))
            guard PQsendPrepare(raw, name, key.sql, count, key.types) == 1 else { return false }
        }
        steps.append(.execute(key, name: name))
        return statement.withValues { values in
            PQsendQueryPrepared(raw, name, count, values, statement.lengths, statement.formats, 1)
        } == 1
    }
}
