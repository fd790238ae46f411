extension SharedLane {
    func cameUp(_ slot: Int) {
        guard readyCount == 1 else { return }
        for id in waiting.ids { if let call = calls[id] { setDeadline(id, call, isUp: true) } }
    }

    func wentDown(_ slot: Int, unanswered: [UInt64], _ error: PostgresError) {
        for id in unanswered {
            abandoned.remove(id)
            finish(id, .failure(error.with(outcomeUnknown: true)))
        }
        guard readyCount == 0 else { return }
        for id in waiting.ids { if let call = calls[id] { setDeadline(id, call, isUp: false) } }
    }

    func pump() {
        while let id = waiting.first(), let slot = freest(), let connection = members[slot], let call = calls[id] {
            if let loss = connection.send(id, [call.statement]) {
                drop(slot, loss)
                continue
            }
            _ = waiting.popFirst()
            calls[id]?.slot = slot
        }
        for (slot, connection) in members where connection.isReady {
            if let reason = connection.retirement, connection.inFlight.isEmpty {
                drop(slot, reason)
            } else if let loss = connection.forgetOutdated(settings.nextID()) {
                drop(slot, loss)
            }
        }
    }

    private func freest() -> Int? {
        LeastLoaded.choose(
            among: members.lazy.filter { $0.value.isReady && $0.value.retirement == nil }
                .map { LeastLoaded.Candidate(slot: $0, inFlight: $1.inFlight.count, abandoned: $1.abandoned) },
            depth: max(1, settings.configuration.pipelineDepth))
    }

    /// If the server has not ended a statement well after `statement_timeout`, it is unreachable.
    private var patience: Duration { settings.configuration.statementTimeout + .seconds(5) }

    func checkStalls(_ now: ContinuousClock.Instant) {
        for (slot, connection) in members
        where !connection.inFlight.isEmpty && connection.lastProgress + patience <= now {
            drop(slot, PostgresError(.connectionLost, "the server has stopped answering"))
        }
    }

    func nextStall() -> ContinuousClock.Instant? {
        members.values.lazy.filter { !$0.inFlight.isEmpty }.map(\.lastProgress).min().map { $0 + patience }
    }

    func load() -> PostgresLoad {
        PostgresLoad(
            connected: readyCount, inFlight: members.values.reduce(0) { $0 + $1.inFlight.count },
            waiting: waiting.count)
    }
}
