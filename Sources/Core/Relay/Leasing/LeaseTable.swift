import NIOConcurrencyHelpers

/// Work in progress on claimed rows.
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

    /// Free places of each route. The routes do not share places.
    func allowances<Permit>(of routes: [Route], each places: Int) -> [Route: ClaimAllowance<Permit>] {
        with { table in
            Dictionary(
                uniqueKeysWithValues: routes.map { ($0, ClaimAllowance(limit: max(places - table.running(in: $0), 0))) }
            )
        }
    }
}

/// A queue's leases in this process and the running work. Decides which work may start and which must stop. Uses no
/// tasks, clocks or databases.
struct LeaseTable<RowID: Hashable & Sendable, Route: Hashable & Sendable, Work: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Held: Sendable {
        var fence: Int32
        /// Time until which the work may start a call.
        var end: Instant
    }

    private let term: LeaseTerm
    private var held: [RowID: Held] = [:]
    private var work: [Lease<RowID>: (route: Route, work: Work)] = [:]
    private var counts: [Route: Int] = [:]
    private var suspect: Lease<RowID>?

    init(_ term: LeaseTerm) { self.term = term }

    /// All leases of this process, with or without work of the engine.
    var leases: [Lease<RowID>] { held.map { Lease(id: $0.key, fence: $0.value.fence) } }
    var running: Int { work.count }
    var allWork: [Work] { work.values.map(\.work) }

    func running(in route: Route) -> Int { counts[route] ?? 0 }

    /// Divides claimed rows. Only one suspect row is worked on at a time: if it crashes this process too, no other row
    /// is blamed.
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

    /// Records a lease of a row that is not processed by the engine. A newer claim of the same row replaces the older
    /// one.
    ///
    /// - Parameter claimedAt: a time before the claim was sent.
    mutating func hold(_ lease: Lease<RowID>, since claimedAt: Instant) {
        held[lease.id] = Held(fence: lease.fence, end: term.end(after: claimedAt))
    }

    mutating func begin(_ lease: Lease<RowID>, in route: Route, since claimedAt: Instant, _ started: Work) {
        hold(lease, since: claimedAt)
        guard work.updateValue((route, started), forKey: lease) == nil else { return }
        counts[route, default: 0] += 1
    }

    /// - Returns: the number of works in its route before the end, including this one.
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

    /// Whether no other process can have claimed the row yet. Work must check this right before each call, because a
    /// suspended process does not notice that its lease has expired.
    func covers(_ lease: Lease<RowID>, at now: Instant = .now) -> Bool {
        held[lease.id].map { $0.fence == lease.fence && $0.end > now } ?? false
    }

    /// Records the result of a renewal. A lease that was not renewed belongs to another process, or has ended.
    mutating func renew(_ asked: [Lease<RowID>], renewed: Set<RowID>, since sentAt: Instant, at now: Instant = .now) {
        let end = term.end(after: sentAt)
        for lease in asked where held[lease.id]?.fence == lease.fence {
            held[lease.id]?.end = renewed.contains(lease.id) ? end : now
        }
    }

    /// Removes expired leases. Their work must be cancelled, and counts as running until it ends.
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

    /// Whether shutdown waits for running work. Work that remains after `graceEnd` is cancelled.
    func waits(at now: Instant = .now, graceEnd: Instant) -> Bool { !work.isEmpty && now < graceEnd }
}
