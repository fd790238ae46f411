import Logging
import NIOConcurrencyHelpers
import RelayCore
import RelayStore
import ServiceLifecycle

/// Claims due pursuits and completes them, in as many copies as wanted. One for each account at Cleeng: what waits behind
/// one of them holds up no other.
public final class PursuitService: Service {
    private let store: RelayStore
    let upstream: Upstream
    private let scope: PublisherScope
    let settings: PursuitSettings
    let loop: WorkLoop
    let policy: LeasePolicy
    let leases: PursuitLeases
    private let writer: PursuitWriter
    private let worker: PursuitWorker
    let arrivals = NIOLockedValueBox(ArrivalGate())
    private let nextExpiry = NIOLockedValueBox(ContinuousClock.now)

    /// As many are claimed at once of one route.
    private static let batch = 200

    /// - Parameters:
    ///   - upstream: one account at Cleeng.
    ///   - scope: whose purchases go there.
    ///   - wakeup: signalled when this process has accepted a purchase.
    ///   - listener: updates ledgers after grants.
    public init(
        store: RelayStore, upstream: Upstream, scope: PublisherScope = .common, settings: PursuitSettings,
        wakeup: Wakeup, logger: Logger, listener: any GrantListener
    ) {
        self.store = store
        self.upstream = upstream
        self.scope = scope
        self.settings = settings
        loop = WorkLoop(
            name: "pursuits", wakeup: wakeup, idleTick: { settings.idleTick }, logger: logger,
            complaint: "no purchase can be claimed")
        policy = LeasePolicy(grace: settings.shutdownGrace, wakesFrom: settings.maxConcurrent)
        leases = PursuitLeases(.renewed(settings.lease))
        writer = PursuitWriter(store: store, listener: listener)
        let reader = EntitlementReader(
            store: store, upstream: upstream, leases: leases, interval: settings.reads.interval, lease: settings.lease)
        worker = PursuitWorker(
            store: store, upstream: upstream, writer: writer, reader: reader, leases: leases, settings: settings,
            logger: logger)
    }

    /// How many pursuits this process holds.
    public var held: Int { leases.with { $0.leases.count } }

    public func run() async throws {
        arrivals.withLockedValue { $0.open() }
        await withGracefulShutdownHandler {
            await LeaseEngine(queue: self).run()
        } onGracefulShutdown: { [arrivals] in
            arrivals.withLockedValue { $0.close() }
        }
    }

    /// Applies an event of Cleeng's to the waiting purchases that it is about.
    ///
    /// - Returns: how many pursuits got it, and how many more there are that a worker has claimed at this moment.
    func apply(_ word: UpstreamStatement, to subject: EventSubject) async throws -> (applied: Int, left: Int) {
        let claimedAt = ContinuousClock.now
        let (claimed, left) = try await store.events.claimWaiting(for: word, of: subject, lease: settings.lease)
        leases.with { for pursuit in claimed { $0.hold(pursuit.lease, since: claimedAt) } }
        var word = word
        word.isAmbiguous = claimed.count + left > 1
        await withTaskGroup { [word] group in
            for pursuit in claimed { group.addTask { [worker] in await worker.apply(pursuit, word) } }
        }
        guard !word.isGrant else { return (claimed.count, left) }
        // What was refused may be due for a read now. A refusal that names none of several is not repeated for the others: they are read anyway.
        loop.wakeup.signal()
        return (claimed.count, word.isAmbiguous ? 0 : left)
    }
}

/// The leases of one account's pursuits, by the route that each was claimed for.
typealias PursuitLeases = Leases<ValidationID, UpstreamRoute>

extension PursuitService: LeasedQueue {
    /// The deadline of what waits for a route that is shut comes all the same.
    func prepare() async throws -> [ClaimedPursuit] {
        let phases = UpstreamRoute.allCases.filter { !upstream.isOpen($0) }.map(\.phase)
        guard !phases.isEmpty, nextExpiry.withLockedValue({ $0 <= .now }) else { return [] }
        let claimedAt = ContinuousClock.now
        let claimed = try await store.purchases.claimExpired(
            phases: phases, of: scope, limit: Self.batch, lease: settings.lease)
        if claimed.count < Self.batch { nextExpiry.withLockedValue { $0 = claimedAt + settings.expiryTick } }
        return claimed
    }

    /// As many pursuits of each route as it has capacity for; one of a shut route, as a probe.
    func turns() -> [UpstreamRoute: Turn<CallGate.Pass>] {
        var turns: [UpstreamRoute: Turn<CallGate.Pass>] = [:]
        for route in UpstreamRoute.allCases {
            let available = available(in: route)
            guard available > 0 else { continue }
            if upstream.isOpen(route) {
                turns[route] = Turn(limit: min(available, Self.batch))
            } else if let probe = upstream.probe(on: route) {
                turns[route] = Turn(limit: 1, right: probe, isProbe: true)
            }
        }
        return turns
    }

    /// How many more may be worked on.
    func available(in route: UpstreamRoute) -> Int {
        settings.maxConcurrent - leases.with { $0.running(in: route) } - arrivals.withLockedValue { $0.reserved(route) }
    }

    func claim(_ turns: [UpstreamRoute: Turn<CallGate.Pass>]) async throws -> [ClaimedPursuit] {
        let mark = arrivals.withLockedValue(\.mark)
        let due = try await store.purchases.duePhases(of: scope)
        let limits = Dictionary(
            uniqueKeysWithValues: turns.filter { due.contains($0.key.phase) }.map { ($0.key.phase, $0.value.limit) })
        let shut = Set(UpstreamRoute.allCases.filter { !upstream.isOpen($0) }.map(\.phase))
        let claimed = try await store.purchases.claimDue(limits, of: scope, shut: shut, lease: settings.lease)
        arrivals.withLockedValue { arrivals in
            for route in UpstreamRoute.allCases {
                let count = claimed.count { self.route(of: $0) == route }
                let isDrained = !due.contains(route.phase) || limits[route.phase].map { count < $0 } ?? false
                arrivals.claimed(route, isDrained: isDrained, since: mark)
            }
        }
        return claimed
    }

    /// Only a parked pursuit has no route, and none is claimed.
    func route(of claimed: ClaimedPursuit) -> UpstreamRoute { claimed.pursuit.phase.route ?? .payments }

    func work(on claimed: [ClaimedPursuit], _ probe: CallGate.Pass?) async {
        for pursuit in claimed { await worker.run(pursuit, probe: probe) }
    }

    func leave(_ probe: CallGate.Pass) { upstream.leave(probe) }

    func postpone(_ suspects: [ClaimedPursuit]) async throws {
        try await store.purchases.postpone(suspects, by: .seconds(1))
    }

    /// Their leases run out. What a pursuit's own errors lead to is the worker's.
    func interrupted(_ claimed: [ClaimedPursuit], by error: any Error) {}

    func drain() async { await writer.drain() }

    func renew(_ leases: [Lease<ValidationID>]) async throws -> Set<ValidationID> {
        try await store.purchases.renew(leases.map { ($0.id, $0.fence) }, lease: settings.lease)
    }

    func giveBack(_ leases: [Lease<ValidationID>]) async throws {
        try await store.purchases.giveBack(leases.map { ($0.id, $0.fence) })
    }
}
