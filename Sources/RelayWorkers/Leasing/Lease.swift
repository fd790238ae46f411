import RelayCore
import RelayStore

/// A claim that this process holds: the row, and the claim's number.
struct Lease<RowID: Hashable & Sendable>: Hashable, Sendable {
    var id: RowID
    var fence: Int32
}

/// A claimed row of a queue.
protocol LeasedItem: Sendable {
    associatedtype RowID: Hashable & Sendable

    var lease: Lease<RowID> { get }
    /// It may have ended the processes that claimed it before: it is worked on while no other such row is.
    var isSuspect: Bool { get }
}

extension ClaimedItem {
    var lease: Lease<ClaimedRow.Key> { Lease(id: row.key, fence: row.fence) }
    var isSuspect: Bool { row.record.isSuspect }
}

extension ClaimedNotification: LeasedItem {}
extension ClaimedDelivery: LeasedItem {}
extension ClaimedEvent: LeasedItem {}
extension ClaimedSubscription: LeasedItem {}

extension ClaimedPursuit: LeasedItem {
    var lease: Lease<ValidationID> { Lease(id: id, fence: fence) }
}

/// How long the work on a claimed row may go on.
enum LeaseTerm: Sendable {
    /// Claims of this length, renewed three times while they last. Work whose lease is lost is cancelled; at shutdown what is left
    /// is given back by the engine.
    case renewed(Duration)
    /// Work calls within this time after the claim, or not at all. The call's own timeout ends it within the lease. Work that is
    /// cancelled gives its row back itself.
    case fixed(startWithin: Duration)

    /// Until when work may call: for renewed leases a sixth before another copy may claim the row.
    ///
    /// - Parameter claimedAt: a moment before the claim was sent.
    func end(after claimedAt: ContinuousClock.Instant) -> ContinuousClock.Instant {
        switch self {
        case .renewed(let lease): claimedAt + lease - lease / 6
        case .fixed(let limit): claimedAt + limit
        }
    }
}
