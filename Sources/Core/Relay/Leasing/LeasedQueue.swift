/// A table of work for ``LeaseEngine``: defines which rows may be claimed and how a row is processed.
protocol LeasedQueue: Sendable {
    associatedtype Item: LeasedItem
    /// Rows of one route share a limit.
    associatedtype Route: Hashable & Sendable
    /// Permission to make calls during the work on a row.
    associatedtype Permit: Sendable

    var policy: LeasePolicy { get }
    var loop: WorkLoop { get }
    var leases: Leases<Item.RowID, Route> { get }

    /// Called before each claim. Returns rows that were claimed regardless of the routes' limits.
    func prepare() async throws -> [Item]
    func allowances() -> [Route: ClaimAllowance<Permit>]
    func claim(_ allowances: [Route: ClaimAllowance<Permit>]) async throws -> [Item]
    func route(of item: Item) -> Route
    /// Works on one row, or on all rows claimed together (``LeasePolicy/isBatch``). It checks
    /// ``LeaseTable/covers(_:at:)`` right before each call.
    ///
    /// - Throws: `CancellationError` if a row must be released as if it had not been claimed.
    func work(on items: [Item], _ permit: Permit?) async throws
    /// Returns a permission. Called at least once, when the work has ended or no row was found.
    func release(_ permit: Permit)

    /// Releases suspects that must wait for another one, with their previous strikes.
    func postpone(_ suspects: [Item]) async throws
    /// Ends claims whose work threw an error, or that could not be postponed.
    func interrupted(_ items: [Item], by error: any Error) async
    /// Writes pending results at shutdown, after the work has ended.
    func drain() async

    /// Renews leases. Returns the ids of the renewed ones, and of those whose rows are locked at this moment: these are
    /// neither renewed nor lost. Like the next method, used only with ``LeaseTerm/renewed(_:)``.
    func renew(_ leases: [Lease<Item.RowID>]) async throws -> (renewed: Set<Item.RowID>, busy: Set<Item.RowID>)
    func giveBack(_ leases: [Lease<Item.RowID>]) async throws
}

/// How the rows of a queue are processed.
struct LeasePolicy: Sendable {
    /// Log message if the work on a row throws an error. Nil: the queue logs it.
    var trouble: String?
    /// How long running work may take at shutdown before it is cancelled.
    var grace = Duration.zero
    /// The end of work wakes the loop if at least this many works ran in its route, including itself.
    var wakesFrom: Int
    /// Whether rows of one route that are claimed together are worked on together.
    var isBatch = false
}

/// Limit for the next claim in one route.
struct ClaimAllowance<Permit: Sendable>: Sendable {
    var limit: Int
    /// Permission to work in this route; see ``LeasedQueue/release(_:)``.
    var permit: Permit?
    /// Whether the route's breaker is open, so that one row is tried as a probe.
    var isProbe = false

    /// - Parameter count: number of claimed rows.
    func mayHaveMore(after count: Int) -> Bool { limit > 0 && count >= limit && !isProbe }
}

/// The route of queues that have only one.
enum OnlyRoute: Hashable, Sendable { case all }

extension LeasedQueue {
    func prepare() async throws -> [Item] { [] }
    func drain() async {}
    func renew(_ leases: [Lease<Item.RowID>]) async throws -> (renewed: Set<Item.RowID>, busy: Set<Item.RowID>) {
        ([], [])
    }
    func giveBack(_ leases: [Lease<Item.RowID>]) async throws {}
}

extension LeasedQueue where Permit == Never {
    func release(_ permit: Never) {}
}

extension LeasedQueue where Route == OnlyRoute {
    func route(of item: Item) -> OnlyRoute { .all }
}

/// A queue whose rows are those of a ``WorkQueue``.
protocol StoredQueue: LeasedQueue where Item: ClaimedItem {
    var store: RelayStore { get }
}

extension StoredQueue {
    func postpone(_ suspects: [Item]) async throws {
        try await store.queues.giveBack(suspects.map(\.row), after: .seconds(1), keepsStrikes: true)
    }

    func interrupted(_ items: [Item], by error: any Error) async {
        await store.queues.interrupted(items.map(\.row), by: error)
    }
}
