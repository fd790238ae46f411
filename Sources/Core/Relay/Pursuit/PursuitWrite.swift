import Postgres
public import RelayCore

/// A worker's changes to a claimed pursuit, after one or several events.
public struct PursuitWrite: Sendable {
    public enum Next: Sendable, Equatable {
        case rest(until: Timestamp)
        case finished
    }

    /// The pursuit as claimed: the write starts from its fence and status.
    public var claimed: ClaimedPursuit
    /// The pursuit's new state.
    public var pursuit: Pursuit
    public var change: Decision.Change?
    public var events: [TimelineEvent]
    public var next: Next
    /// Cleeng's answer about the subscription's owner, if the previous write returned
    /// ``PursuitWriteOutcome/ownerInDoubt(_:)``.
    public var ownerReading: OwnershipClaim.OwnerReading?
    /// How far the reads had come when the read behind this grant was sent.
    public var progress: OwnershipClaim.ReadProgress

    public init(
        claimed: ClaimedPursuit, pursuit: Pursuit, change: Decision.Change?, events: [TimelineEvent], next: Next,
        ownerReading: OwnershipClaim.OwnerReading? = nil, progress: OwnershipClaim.ReadProgress = .init()
    ) {
        self.claimed = claimed
        self.pursuit = pursuit
        self.change = change
        self.events = events
        self.next = next
        self.ownerReading = ownerReading
        self.progress = progress
    }

    /// The write as this outcome stores it. A grant whose purchase the store had revoked is stored as `revoked`.
    func with(_ outcome: PursuitWriteOutcome) -> PursuitWrite {
        guard case .writtenRevoked(let reason) = outcome, change != nil else { return self }
        var write = self
        write.change?.status = .revoked
        write.change?.reason = reason
        if let grant = write.events.lastIndex(where: { $0.kind == .granted }) {
            write.events[grant].kind = .revoked
            write.events[grant].detail = "\(reason): known before the grant"
        }
        return write
    }

    var claim: (id: ValidationID, fence: Int32) { (claimed.id, claimed.fence) }
    /// The connector does not accept the purchase, so the validation gets the driver that sends it as a receipt.
    var fallsBack: Bool { claimed.pursuit.phase.connector != nil && pursuit.phase == .forwarding }
    var isRelease: Bool { change == nil && next != .finished && !fallsBack }
}

/// Outcome of a ``PursuitWrite``.
public enum PursuitWriteOutcome: Sendable, Equatable {
    case written
    /// Written as `revoked` for this reason: the store had revoked the purchase before Cleeng granted it.
    case writtenRevoked(reason: String)
    /// Nothing was written: the lease had expired, or another worker has it.
    case leaseLost
    /// Nothing was written: the read behind the grant is too old, and the worker must read the entitlement again. The
    /// read is from before the subscription's last transfer, or from a moment at which the transfer may have been
    /// running.
    case readTooOld
    /// Nothing was written: another customer owns the subscription, and that owner's entitlement decides. The worker
    /// must ask Cleeng about the owner and repeat the write with the answer.
    case ownerInDoubt(CurrentOwner)

    public var isWritten: Bool {
        switch self {
        case .written, .writtenRevoked: true
        case .leaseLost, .readTooOld, .ownerInDoubt: false
        }
    }
}

/// Collects the workers' writes. Concurrent writes share a statement or a transaction.
public final class PursuitWriter: Sendable {
    private let releases: PostgresBatcher<PursuitWrite, PursuitWriteOutcome>
    private let settlements: PostgresBatcher<PursuitWrite, PursuitWriteOutcome>

    public init(store: RelayStore) {
        let (releaseSizes, settlementSizes) = (BatchSizes("releases"), BatchSizes("settlements"))
        releases = PostgresBatcher(maxCount: 500, maxWaiting: 100_000) { batch in
            releaseSizes.record(batch.count)
            return try await store.purchases.release(batch).map { .success($0) }
        }
        // Two writes of one validation never share a batch, since the second starts from the result of the first.
        settlements = PostgresBatcher(
            maxCount: 200, maxWaiting: 100_000, keys: { [$0.claimed.id] },
            flush: { batch in
                settlementSizes.record(batch.count)
                return try await store.purchases.settle(batch).map { .success($0) }
            })
    }

    /// Returns after the commit.
    public func write(_ write: PursuitWrite) async throws -> PursuitWriteOutcome {
        try await write.isRelease ? releases.submit(write) : settlements.submit(write)
    }

    public func drain() async {
        await releases.drain()
        await settlements.drain()
    }
}
