import RelayStore

/// A table of work, as ``LeaseEngine`` works it off: which rows may be claimed, and what is done with one.
protocol LeasedQueue: Sendable {
    associatedtype Item: LeasedItem
    /// Rows of one route share a bound.
    associatedtype Route: Hashable & Sendable
    /// To call, for as long as the work on a row takes.
    associatedtype Right: Sendable

    var policy: LeasePolicy { get }
    var loop: WorkLoop { get }
    var leases: Leases<Item.RowID, Route> { get }

    /// Called before each claim. Returns rows that were claimed whatever the routes allow.
    func prepare() async throws -> [Item]
    func turns() -> [Route: Turn<Right>]
    func claim(_ turns: [Route: Turn<Right>]) async throws -> [Item]
    func route(of item: Item) -> Route
    /// Works on one row, or on all that were claimed together (``LeasePolicy/isBatch``). Where it calls, it asks ``LeaseTable/covers(_:at:)``
    /// right before.
    ///
    /// - Throws: `CancellationError` where a row goes back as if it had not been claimed.
    func work(on items: [Item], _ right: Right?) async throws
    /// Takes a right back. Called once at least, when the work has ended or none was found.
    func leave(_ right: Right)

    /// Gives suspects back that have to wait for another one, with the strikes that they had.
    func postpone(_ suspects: [Item]) async throws
    /// Ends claims whose work threw an error, or that could not be postponed.
    func interrupted(_ items: [Item], by error: any Error) async
    /// Writes what is still to be written at shutdown, when the work has ended.
    func drain() async

    /// Returns those that are still this process's. Used with ``LeaseTerm/renewed(_:)`` only, as is the next.
    func renew(_ leases: [Lease<Item.RowID>]) async throws -> Set<Item.RowID>
    func giveBack(_ leases: [Lease<Item.RowID>]) async throws
}

/// How the rows of a queue are worked off.
struct LeasePolicy: Sendable {
    /// Logged where the work on a row threw an error. Nil: the queue logs it.
    var trouble: String?
    /// How long work under way may take to end at shutdown before it is cancelled.
    var grace = Duration.zero
    /// The end of work wakes the loop where so many were under way in its route, itself included.
    var wakesFrom: Int
    /// The rows of one route that are claimed together are worked on together.
    var isBatch = false
}

/// What may be claimed in one route of a queue now.
struct Turn<Right: Sendable>: Sendable {
    var limit: Int
    /// Right to work in this route; see ``LeasedQueue/leave(_:)``.
    var right: Right?
    /// The route's breaker is open: one row goes to see whether it can be closed.
    var isProbe = false

    /// - Parameter count: how many rows were claimed.
    func mayHaveMore(after count: Int) -> Bool { limit > 0 && count >= limit && !isProbe }
}

/// The route of queues that have one.
enum OnlyRoute: Hashable, Sendable { case all }

extension LeasedQueue {
    func prepare() async throws -> [Item] { [] }
    func leave(_ right: Right) {}
    func drain() async {}
    func renew(_ leases: [Lease<Item.RowID>]) async throws -> Set<Item.RowID> { [] }
    func giveBack(_ leases: [Lease<Item.RowID>]) async throws {}
}

extension LeasedQueue where Route == OnlyRoute {
    func route(of item: Item) -> OnlyRoute { .all }
}

/// A queue of the kind of ``WorkQueue``.
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
