import RelayCore

/// A claim that this process holds: the row's id and the claim's number.
struct Lease<RowID: Hashable & Sendable>: Hashable, Sendable {
    var id: RowID
    var fence: Int32
}

/// A claimed row of a queue.
protocol LeasedItem: Sendable {
    associatedtype RowID: Hashable & Sendable

    var lease: Lease<RowID> { get }
    /// Whether the row may have crashed the processes that claimed it before. No two such rows are processed at the
    /// same time.
    var isSuspect: Bool { get }
}

extension ClaimedItem {
    var lease: Lease<ClaimedRow.Key> { Lease(id: row.key, fence: row.fence) }
    var isSuspect: Bool { row.record.isSuspect }
}

/// How long work on a claimed row may last.
enum LeaseTerm: Sendable {
    /// Claims of this length, renewed three times during it. Work whose lease is lost is cancelled. At shutdown, the
    /// engine releases the remaining rows.
    case renewed(Duration)
    /// Work must start its call within this time after the claim. The call's own timeout ends it within the lease.
    /// Cancelled work releases its row itself.
    case fixed(startWithin: Duration)

    /// Lease of work that makes up to three calls to Cleeng in turn, and waits for their places.
    static func ofThreeCalls(of callTimeout: Duration) -> Duration { max(.seconds(60), callTimeout * 3 + .seconds(30)) }

    /// Time until which work may start a call. For renewed leases, this is a sixth of the lease before another copy may
    /// claim the row.
    ///
    /// - Parameter claimedAt: a time before the claim was sent.
    func end(after claimedAt: ContinuousClock.Instant) -> ContinuousClock.Instant {
        switch self {
        case .renewed(let lease): claimedAt + lease - lease / 6
        case .fixed(let limit): claimedAt + limit
        }
    }
}
