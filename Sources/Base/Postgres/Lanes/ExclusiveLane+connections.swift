extension ExclusiveLane {
    func setDeadline(_ id: UInt64, _ waiter: Waiter, isUp: Bool) {
        let deadline = waiter.waitDeadline
        deadlines.set(id, isUp ? deadline : min(deadline, .now + settings.configuration.connectionWait))
    }

    private func resetDeadlines(isUp: Bool) {
        for (id, waiter) in waiters { setDeadline(id, waiter, isUp: isUp) }
    }

    func finishWaiting(_ id: UInt64, _ result: Result<Void, any Error>) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        waiting.remove(id)
        deadlines.remove(id)
        waiter.continuation.resume(with: result)
    }

    func cameUp(_ slot: Int) {
        free.append(slot)
        if readyCount == 1 { resetDeadlines(isUp: true) }
    }

    func wentDown(_ slot: Int, unanswered: [UInt64], _ error: PostgresError) {
        free.removeAll { $0 == slot }
        for (id, lease) in leases where lease.slot == slot { lost(id, error) }
        if readyCount == 0 { resetDeadlines(isUp: false) }
    }

    func pump() {
        while let id = waiting.first(), let deadline = waiters[id]?.waitDeadline, let slot = free.popLast() {
            leases[id] = ConnectionLease(slot: slot, deadline: deadline)
            finishWaiting(id, .success(()))
            // The transaction's own deadline applies from here on.
            deadlines.set(id, deadline)
        }
    }

    func expired(_ id: UInt64, _ now: ContinuousClock.Instant) {
        if let lease = leases[id] { return leaseExpired(id, lease, now) }
        let isUp = readyCount > 0
        let reason = lastConnectError.map { ": \($0.serverMessage)" } ?? ""
        finishWaiting(
            id,
            .failure(
                isUp
                    ? PostgresError(.timedOut, "no connection was free within the deadline")
                    : PostgresError(.notConnected, PostgresError.noConnection + reason)))
    }

    /// Does nothing: every flight here belongs to a transaction, which has its own deadline.
    func checkStalls(_ now: ContinuousClock.Instant) {}

    func nextStall() -> ContinuousClock.Instant? { nil }

    func load() -> PostgresLoad {
        PostgresLoad(
            connected: readyCount, inFlight: leases.values.reduce(0) { $0 + ($1.state == .over ? 0 : 1) },
            waiting: waiting.count)
    }
}
