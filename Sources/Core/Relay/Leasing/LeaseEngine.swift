import Logging
import Metrics
import ServiceLifecycle

/// Processes a queue: claims due rows within limits, works on them under leases, and releases unfinished rows at
/// shutdown.
///
/// Any number of copies may run it. If a copy dies, its rows become due again when their leases expire.
struct LeaseEngine<Queue: LeasedQueue>: Sendable {
    private typealias Item = Queue.Item

    let queue: Queue
    private var leases: Leases<Queue.Item.RowID, Queue.Route> { queue.leases }

    /// Runs until a graceful shutdown. Then it claims nothing more, cancels running work after the grace period, and
    /// releases all remaining leases.
    func run() async {
        switch leases.term {
        case .renewed(let lease):
            let renewing = Task { await keepLeases(lease) }
            await runLoop()
            renewing.cancel()
            // The leases are taken before the work is cancelled. Ended work removes its own lease, and a row without a
            // lease here would stay claimed until it expires.
            let (work, left) = leases.with { ($0.allWork, $0.takeAll()) }
            for task in work { task.cancel() }
            await queue.drain()
            await giveBack(left)
        case .fixed:
            await runLoop()
            // Cancelled work releases its own row.
            let work = leases.with { $0.allWork }
            for task in work { task.cancel() }
            for task in work { await task.value }
            await queue.drain()
        }
    }

    /// Runs until a graceful shutdown and the end of the grace period.
    private func runLoop() async {
        await cancelWhenGracefulShutdown { await queue.loop.run(round) }
        let graceEnd = ContinuousClock.now + queue.policy.grace
        while leases.with({ $0.waits(graceEnd: graceEnd) }) {
            await queue.loop.wakeup.wait(atMost: .milliseconds(50))
        }
    }

    /// Claims due rows once, and starts the work on them.
    ///
    /// - Returns: whether there may be more due rows.
    func round() async throws -> Bool {
        let preparedAt = ContinuousClock.now
        start(try await queue.prepare(), [:], since: preparedAt)
        let allowances = queue.allowances()
        var unused = allowances
        defer { for permit in unused.values.compactMap(\.permit) { queue.release(permit) } }
        guard allowances.values.contains(where: { $0.limit > 0 }) else { return false }
        let claimedAt = ContinuousClock.now
        let claimed = try await queue.claim(allowances)
        let (admitted, postponed) = leases.with { $0.admit(claimed) }
        for item in admitted { unused[queue.route(of: item)] = nil }
        start(admitted, allowances, since: claimedAt)
        try await postpone(postponed)
        var counts: [Queue.Route: Int] = [:]
        for item in claimed { counts[queue.route(of: item), default: 0] += 1 }
        return allowances.contains { route, allowance in allowance.mayHaveMore(after: counts[route] ?? 0) }
    }

    /// Starts work on a row that was not claimed by this engine.
    func begin(_ item: Queue.Item, since claimedAt: ContinuousClock.Instant) {
        start([item], [:], since: claimedAt)
    }

    private func start(
        _ items: [Item], _ allowances: [Queue.Route: ClaimAllowance<Queue.Permit>],
        since claimedAt: ContinuousClock.Instant
    ) {
        let pieces =
            queue.policy.isBatch
            ? Array(Dictionary(grouping: items, by: queue.route(of:)).values) : items.map { [$0] }
        for piece in pieces {
            let permit = allowances[queue.route(of: piece[0])]?.permit
            // The lock keeps the task from ending its lease before the table has it.
            leases.with { table in
                let task = LeasedWork {
                    await work(on: piece, permit)
                    if let permit { queue.release(permit) }
                    let counts = leases.with { table in piece.map { table.end($0.lease) } }
                    if counts.contains(where: { $0 >= queue.policy.wakesFrom }) { queue.loop.wakeup.signal() }
                }
                for item in piece { table.begin(item.lease, in: queue.route(of: item), since: claimedAt, task) }
            }
        }
    }

    private func work(on items: [Item], _ permit: Queue.Permit?) async {
        do {
            try await queue.work(on: items, permit)
        } catch {
            if let trouble = queue.policy.trouble, !(error is CancellationError) {
                queue.loop.logger.warning("\(trouble)", metadata: ["error": "\(error)"])
            }
            await queue.interrupted(items, by: error)
        }
    }

    private func postpone(_ suspects: [Item]) async throws {
        guard !suspects.isEmpty else { return }
        do {
            try await queue.postpone(suspects)
        } catch {
            await queue.interrupted(suspects, by: error)
            throw error
        }
    }

    /// Renews leases and cancels work whose lease is lost. Only renewal may wait for an unresponsive database.
    private func keepLeases(_ lease: Duration) async {
        async let renewing: Void = every(lease / 3, renewAll)
        async let looking: Void = every(lease / 12, cancelLost)
        _ = await (renewing, looking)
    }

    private func every(_ interval: Duration, _ step: () async -> Void) async {
        var next = ContinuousClock.now + interval
        while !Task.isCancelled {
            try? await Task.sleep(until: next, clock: .continuous)
            // A slow step does not delay the next one.
            next = max(next + interval, .now)
            await step()
        }
    }

    private func renewAll() async {
        let all = leases.with { $0.leases }
        for start in stride(from: 0, to: all.count, by: 1_000) {
            let now = ContinuousClock.now
            let chunk = Array(all[start..<min(start + 1_000, all.count)])
            guard let (renewed, busy) = try? await queue.renew(chunk) else { continue }
            leases.with { $0.renew(chunk.filter { !busy.contains($0.id) }, renewed: renewed, since: now) }
        }
    }

    private func cancelLost() {
        let lost = leases.with { $0.takeLost() }
        guard !lost.isEmpty else { return }
        Counter(label: "relay_leases_lost").increment(by: lost.count)
        queue.loop.logger.warning(
            "leases ran out: the work they covered is dropped", metadata: ["count": .stringConvertible(lost.count)])
        for task in lost { task.cancel() }
    }

    /// Releases leases without waiting for the work to end: a later write names an old fence and changes nothing.
    private func giveBack(_ left: [Lease<Item.RowID>]) async {
        do {
            try await queue.giveBack(left)
        } catch {
            queue.loop.logger.warning(
                "leases could not be given back: they run out by themselves",
                metadata: ["count": .stringConvertible(left.count)])
        }
    }
}
