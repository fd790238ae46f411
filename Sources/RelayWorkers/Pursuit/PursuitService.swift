import Logging
import Metrics
import NIOConcurrencyHelpers
import RelayCore
import RelayStore
import ServiceLifecycle

/// Takes up what is due and sees it through, in as many copies as wanted. One for each account at Cleeng: what stands still behind
/// one of them holds up no other.
public final class PursuitService: Service {
    private let store: RelayStore
    private let upstream: Upstream
    private let scope: PublisherScope
    private let settings: PursuitSettings
    private let logger: Logger
    private let leases: LeaseKeeper
    private let writer: PursuitWriter
    private let desk: ReadDesk
    private let worker: PursuitWorker
    private let wakeup: Wakeup
    /// By the route that a pursuit was taken up for.
    private let running = NIOLockedValueBox<[UpstreamRoute: Int]>([:])
    private let nextExpiry = NIOLockedValueBox(ContinuousClock.now)
    /// The one pursuit under way that may be what ended the processes before this one.
    private let suspect = NIOLockedValueBox<ValidationID?>(nil)

    /// - Parameters:
    ///   - upstream: one account at Cleeng.
    ///   - scope: whose purchases go there.
    ///   - wakeup: rung when this process has accepted a purchase.
    ///   - onGranted: called after a commit that granted something.
    public init(
        store: RelayStore, upstream: Upstream, scope: PublisherScope = .common, settings: PursuitSettings,
        wakeup: Wakeup, logger: Logger, onGranted: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.upstream = upstream
        self.scope = scope
        self.settings = settings
        self.logger = logger
        self.wakeup = wakeup
        leases = LeaseKeeper(store: store, lease: settings.lease, logger: logger)
        writer = PursuitWriter(store: store, onGranted: onGranted)
        desk = ReadDesk(
            store: store, upstream: upstream, leases: leases, interval: settings.reads.interval, lease: settings.lease)
        worker = PursuitWorker(
            store: store, upstream: upstream, writer: writer, desk: desk, leases: leases, settings: settings,
            logger: logger)
    }

    /// How many pursuits this process holds.
    public var held: Int { leases.count }

    /// Until a graceful shutdown: then nothing new is taken up, steps under way get their grace, and every lease that is left
    /// goes back.
    public func run() async throws {
        let keeping = Task { await leases.run() }
        let loop = WorkLoop(
            name: "pursuits", wakeup: wakeup, idleTick: settings.idleTick, logger: logger,
            complaint: "no purchase can be claimed")
        await cancelWhenGracefulShutdown { await loop.run(self.runOnce) }
        await settleDown()
        keeping.cancel()
        await leases.giveBackAll()
    }

    /// Ends the wait of those whom Cleeng's own word is about.
    ///
    /// - Returns: how many waits ended, and how many more there are that somebody works on at this moment.
    func tell(_ word: UpstreamWord, to subject: EventSubject) async throws -> (told: Int, left: Int) {
        let claimedAt = ContinuousClock.now
        let (claimed, left) = try await store.claimWaiting(for: word, of: subject, lease: settings.lease)
        for pursuit in claimed { leases.hold(pursuit, since: claimedAt) }
        await withTaskGroup { group in
            for pursuit in claimed { group.addTask { [worker] in await worker.told(pursuit, word) } }
        }
        return (claimed.count, left)
    }

    /// Takes up what is due now, once: of each kind as many as there is room for, and of what may not be called for now one
    /// at most, to probe with. What is not taken up stays as it is, for this copy or another.
    ///
    /// - Returns: whether there may be more.
    func runOnce() async throws -> Bool {
        try await takeExpired()
        let turns = Dictionary(uniqueKeysWithValues: UpstreamRoute.allCases.map { ($0, turn(on: $0)) })
        var probes = turns.values.compactMap(\.probe)
        defer { for probe in probes { upstream.leave(probe) } }
        let limits = Dictionary(uniqueKeysWithValues: turns.map { ($0.key.phase, $0.value.limit) })
        guard limits.values.contains(where: { $0 > 0 }) else { return false }
        let claimedAt = ContinuousClock.now
        let shut = Set(UpstreamRoute.allCases.filter { !upstream.isOpen($0) }.map(\.phase))
        let claimed = try await store.claimDue(limits, of: scope, shut: shut, lease: settings.lease)
        let suspects = claimed.filter(\.isSuspect)
        for pursuit in claimed where !pursuit.isSuspect {
            let probe = probes.firstIndex { $0.route == pursuit.route }.map { probes.remove(at: $0) }
            start(pursuit, claimedAt: claimedAt, probe: probe)
        }
        if !suspects.isEmpty { try await isolate(suspects, claimedAt: claimedAt) }
        return turns.contains { route, turn in turn.mayHaveMore(after: claimed.count { $0.route == route }) }
    }

    /// What may be taken up for a route now.
    private struct Turn {
        var limit = 0
        var probe: CallGate.Pass?

        func mayHaveMore(after taken: Int) -> Bool { limit > 0 && taken == limit && probe == nil }
    }

    private func turn(on route: UpstreamRoute) -> Turn {
        let room = settings.maxConcurrent - running.withLockedValue { $0[route, default: 0] }
        guard room > 0 else { return Turn() }
        if upstream.isOpen(route) { return Turn(limit: min(room, 200)) }
        return upstream.probe(on: route).map { Turn(limit: 1, probe: $0) } ?? Turn()
    }

    /// The deadline of what is held back comes all the same.
    private func takeExpired() async throws {
        let phases = UpstreamRoute.allCases.filter { !upstream.isOpen($0) }.map(\.phase)
        guard !phases.isEmpty, nextExpiry.withLockedValue({ $0 <= .now }) else { return }
        let claimedAt = ContinuousClock.now
        let claimed = try await store.claimExpired(phases: phases, of: scope, limit: 200, lease: settings.lease)
        for pursuit in claimed { start(pursuit, claimedAt: claimedAt, probe: nil) }
        if claimed.count < 200 { nextExpiry.withLockedValue { $0 = claimedAt + settings.expiryTick } }
    }

    /// Of those that nobody got through with, one at a time is gone on with; the others come again in a moment.
    private func isolate(_ suspects: [ClaimedPursuit], claimedAt: ContinuousClock.Instant) async throws {
        let chosen: ClaimedPursuit? = suspect.withLockedValue { suspect in
            guard suspect == nil else { return nil }
            suspect = suspects.first?.id
            return suspects.first
        }
        if let chosen { start(chosen, claimedAt: claimedAt, probe: nil) }
        try await store.postpone(suspects.filter { $0.id != chosen?.id }, by: .seconds(1))
    }

    private func start(_ claimed: ClaimedPursuit, claimedAt: ContinuousClock.Instant, probe: CallGate.Pass?) {
        running.withLockedValue { $0[claimed.route, default: 0] += 1 }
        leases.hold(claimed, since: claimedAt)
        let task = Task {
            await worker.run(claimed, probe: probe)
            if let probe { upstream.leave(probe) }
            suspect.withLockedValue { if $0 == claimed.id { $0 = nil } }
            let wasFull = running.withLockedValue { running in
                defer { running[claimed.route, default: 1] -= 1 }
                return running[claimed.route, default: 0] >= settings.maxConcurrent
            }
            if wasFull { wakeup.ring() }
        }
        leases.attach(task, to: claimed)
    }

    private func settleDown() async {
        let end = ContinuousClock.now + settings.shutdownGrace
        while running.withLockedValue({ $0.values.reduce(0, +) }) > 0, ContinuousClock.now < end {
            await wakeup.wait(atMost: .milliseconds(50))
        }
        leases.cancelAll()
        await writer.drain()
    }
}

extension ClaimedPursuit {
    /// What is claimed has one: nothing that is parked is.
    fileprivate var route: UpstreamRoute { pursuit.phase.route ?? .payments }
}
