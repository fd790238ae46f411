public import Logging
import NIOConcurrencyHelpers
public import RelayCore
public import ServiceLifecycle

/// Claims due pursuits and works on them, in any number of copies. There is one per Cleeng account, so that a blocked
/// account does not delay the others.
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
    private let reader: EntitlementReader
    let arrivals = NIOLockedValueBox(ArrivalGate())
    private let nextExpiry = NIOLockedValueBox(ContinuousClock.now)

    /// Bound of pursuits that one claim takes for a route.
    private static let batch = 200

    /// - Parameters:
    ///   - upstream: the Cleeng account.
    ///   - stores: the stores other than Apple's.
    ///   - scope: publishers that use the account.
    ///   - wakeup: signalled when this process has accepted a purchase.
    public init(
        store: RelayStore, upstream: Upstream, stores: StoreInquiry, scope: PublisherScope = .common,
        settings: PursuitSettings, wakeup: Wakeup, logger: Logger
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
        writer = PursuitWriter(store: store)
        reader = EntitlementReader(
            store: store, upstream: upstream, leases: leases, interval: settings.reads.interval, lease: settings.lease)
        worker = PursuitWorker(
            store: store, upstream: upstream, writer: writer, reader: reader, taken: TakenInquiry(stores),
            leases: leases, settings: settings, logger: logger)
    }

    /// Number of pursuits that this process holds.
    public var held: Int { leases.with { $0.leases.count } }

    public func run() async throws {
        arrivals.withLockedValue { $0.open() }
        await withGracefulShutdownHandler {
            await LeaseEngine(queue: self).run()
        } onGracefulShutdown: { [arrivals] in
            arrivals.withLockedValue { $0.close() }
        }
    }

    /// Asks Cleeng whether a subscription's owner still has the offer.
    func read(_ owner: CurrentOwner) async throws -> EntitlementReader.OwnerReadResult { try await reader.read(owner) }

    /// Applies an event of Cleeng's to the waiting purchases that it concerns.
    ///
    /// - Returns: the number of updated pursuits, and of further ones that a worker holds now.
    func apply(_ statement: UpstreamStatement, to subject: EventSubject) async throws -> (applied: Int, left: Int) {
        let claimedAt = ContinuousClock.now
        let (claimed, left) = try await store.purchases.claimWaiting(for: statement, of: subject, lease: settings.lease)
        leases.with { for pursuit in claimed { $0.hold(pursuit.lease, since: claimedAt) } }
        var statement = statement
        statement.isAmbiguous = claimed.count + left > 1
        await withTaskGroup { [statement] group in
            for pursuit in claimed { group.addTask { [worker] in await worker.apply(pursuit, statement) } }
        }
        guard !statement.isGrant else { return (claimed.count, left) }
        // Refused purchases may be due for a read now. An ambiguous refusal is not repeated for the other purchases:
        // their entitlement is read anyway.
        loop.wakeup.signal()
        return (claimed.count, statement.isAmbiguous ? 0 : left)
    }
}

/// The leases of one account's pursuits, by the route that each was claimed for.
typealias PursuitLeases = Leases<ValidationID, UpstreamRoute>

extension PursuitService: LeasedQueue {
    /// Claims pursuits of shut routes whose deadline has passed, since the deadline must be written even then.
    func prepare() async throws -> [ClaimedPursuit] {
        let phases = UpstreamRoute.allCases.filter { !upstream.isBreakerClosed($0) }.map(\.phase)
        guard !phases.isEmpty, nextExpiry.withLockedValue({ $0 <= .now }) else { return [] }
        let claimedAt = ContinuousClock.now
        let claimed = try await store.purchases.claimExpired(
            phases: phases, of: scope, limit: Self.batch, lease: settings.lease)
        if claimed.count < Self.batch { nextExpiry.withLockedValue { $0 = claimedAt + settings.expiryTick } }
        return claimed
    }

    /// Number of pursuits to claim for each route: its free capacity, or one as a probe if the route is shut.
    func allowances() -> [UpstreamRoute: ClaimAllowance<CallGate.Pass>] {
        var allowances: [UpstreamRoute: ClaimAllowance<CallGate.Pass>] = [:]
        for route in UpstreamRoute.allCases {
            let available = available(in: route)
            guard available > 0 else { continue }
            if upstream.isBreakerClosed(route) {
                allowances[route] = ClaimAllowance(limit: min(available, Self.batch))
            } else if let probe = upstream.probe(on: route) {
                allowances[route] = ClaimAllowance(limit: 1, permit: probe, isProbe: true)
            }
        }
        return allowances
    }

    /// Number of further pursuits of a route that may be worked on.
    func available(in route: UpstreamRoute) -> Int {
        settings.maxConcurrent - leases.with { $0.running(in: route) } - arrivals.withLockedValue { $0.reserved(route) }
    }

    func claim(_ allowances: [UpstreamRoute: ClaimAllowance<CallGate.Pass>]) async throws -> [ClaimedPursuit] {
        let mark = arrivals.withLockedValue(\.mark)
        let due = try await store.purchases.duePhases(of: scope)
        let limits = Dictionary(
            uniqueKeysWithValues: allowances.filter { due.contains($0.key.phase) }.map {
                ($0.key.phase, $0.value.limit)
            })
        let shut = Set(UpstreamRoute.allCases.filter { !upstream.isBreakerClosed($0) }.map(\.phase))
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

    /// The route of a pursuit. Only parked pursuits have none, and they are never claimed.
    func route(of claimed: ClaimedPursuit) -> UpstreamRoute { claimed.pursuit.phase.route ?? .payments }

    func work(on claimed: [ClaimedPursuit], _ probe: CallGate.Pass?) async {
        for pursuit in claimed { await worker.run(pursuit, probe: probe) }
    }

    func release(_ probe: CallGate.Pass) { upstream.leave(probe) }

    func postpone(_ suspects: [ClaimedPursuit]) async throws {
        try await store.purchases.postpone(suspects, by: .seconds(1))
    }

    /// Lets the leases expire. The worker handles a pursuit's own errors.
    func interrupted(_ claimed: [ClaimedPursuit], by error: any Error) {}

    func drain() async { await writer.drain() }

    func renew(
        _ leases: [Lease<ValidationID>]
    ) async throws -> (renewed: Set<ValidationID>, busy: Set<ValidationID>) {
        try await store.purchases.renew(leases.map { ($0.id, $0.fence) }, lease: settings.lease)
    }

    func giveBack(_ leases: [Lease<ValidationID>]) async throws {
        try await store.purchases.giveBack(leases.map { ($0.id, $0.fence) })
    }
}
