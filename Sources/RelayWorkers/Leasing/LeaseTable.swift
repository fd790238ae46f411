import NIOConcurrencyHelpers

/// Work under way on claimed rows.
typealias LeasedWork = Task<Void, Never>

/// ``LeaseTable`` shared by tasks.
final class Leases<RowID: Hashable & Sendable, Route: Hashable & Sendable>: Sendable {
    let term: LeaseTerm
    private let table: NIOLockedValueBox<LeaseTable<RowID, Route, LeasedWork>>

    init(_ term: LeaseTerm) {
        self.term = term
        table = NIOLockedValueBox(LeaseTable(term))
    }

    func with<T>(_ body: (inout LeaseTable<RowID, Route, LeasedWork>) -> T) -> T { table.withLockedValue(body) }

    /// The free places of each route: what runs in one takes none of another's.
    func turns<Right>(of routes: [Route], each places: Int) -> [Route: Turn<Right>] {
        with { table in
            Dictionary(uniqueKeysWithValues: routes.map { ($0, Turn(limit: max(places - table.running(in: $0), 0))) })
        }
    }
}

/// The leases of a queue in this process and the work under way: what may be started, and what has to stop. Knows no tasks, clocks
/// or databases.
struct LeaseTable<RowID: Hashable & Sendable, Route: Hashable & Sendable, Work: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Held: Sendable {
        var fence: Int32
        /// Until when its work may call.
        var end: Instant
    }

    private let term: LeaseTerm
    private var held: [RowID: Held] = [:]
    private var work: [Lease<RowID>: (route: Route, work: Work)] = [:]
    private var counts: [Route: Int] = [:]
    private var suspect: Lease<RowID>?

    init(_ term: LeaseTerm) { self.term = term }

    /// All that this process holds, with work of the engine's and without.
    var leases: [Lease<RowID>] { held.map { Lease(id: $0.key, fence: $0.value.fence) } }
    var running: Int { work.count }
    var allWork: [Work] { work.values.map(\.work) }

    func running(in route: Route) -> Int { counts[route] ?? 0 }

    /// Divides what was claimed. Of all suspects one at a time is worked on: should it end this process too, no other is blamed.
    mutating func admit<Item: LeasedItem>(
        _ claimed: [Item]
    ) -> (admitted: [Item], postponed: [Item]) where Item.RowID == RowID {
        var (admitted, postponed): ([Item], [Item]) = ([], [])
        for item in claimed {
            if item.isSuspect, suspect != nil {
                postponed.append(item)
            } else {
                if item.isSuspect { suspect = item.lease }
                admitted.append(item)
            }
        }
        return (admitted, postponed)
    }

    /// Holds a row that something else than the engine works on. A newer claim of the same row takes the older one's place.
    ///
    /// - Parameter claimedAt: a moment before the claim was sent.
    mutating func hold(_ lease: Lease<RowID>, since claimedAt: Instant) {
        held[lease.id] = Held(fence: lease.fence, end: term.end(after: claimedAt))
    }

    mutating func begin(_ lease: Lease<RowID>, in route: Route, since claimedAt: Instant, _ started: Work) {
        hold(lease, since: claimedAt)
        guard work.updateValue((route, started), forKey: lease) == nil else { return }
        counts[route, default: 0] += 1
    }

    /// - Returns: how much work there was in its route, itself included.
    @discardableResult
    mutating func end(_ lease: Lease<RowID>) -> Int {
        drop(lease)
        if suspect == lease { suspect = nil }
        guard let route = work.removeValue(forKey: lease)?.route, let count = counts[route] else { return 0 }
        counts[route] = count > 1 ? count - 1 : nil
        return count
    }

    mutating func drop(_ lease: Lease<RowID>) {
        if held[lease.id]?.fence == lease.fence { held[lease.id] = nil }
    }

    /// Whether no other process can have claimed the row yet. A process that stood still has to ask right before it calls: it does not
    /// know yet that its lease is over.
    func covers(_ lease: Lease<RowID>, at now: Instant = .now) -> Bool {
        held[lease.id].map { $0.fence == lease.fence && $0.end > now } ?? false
    }

    /// Enters what the database said. What it did not renew belongs to another process, or has ended meanwhile.
    mutating func renew(_ asked: [Lease<RowID>], renewed: Set<RowID>, since sentAt: Instant, at now: Instant = .now) {
        let end = term.end(after: sentAt)
        for lease in asked where held[lease.id]?.fence == lease.fence {
            held[lease.id]?.end = renewed.contains(lease.id) ? end : now
        }
    }

    /// Removes leases that are over. Their work is to be cancelled, and counts as running until it ends.
    mutating func takeLost(at now: Instant = .now) -> [Work] {
        let lost = held.filter { $0.value.end <= now }
        for id in lost.keys { held[id] = nil }
        return lost.compactMap { work[Lease(id: $0.key, fence: $0.value.fence)]?.work }
    }

    /// Removes all leases.
    mutating func takeAll() -> [Lease<RowID>] {
        defer { held = [:] }
        return leases
    }

    /// Whether a shutdown waits for work under way. What is left then is cancelled.
    func waits(at now: Instant = .now, graceEnd: Instant) -> Bool { !work.isEmpty && now < graceEnd }
}
