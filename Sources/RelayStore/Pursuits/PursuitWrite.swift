import Postgres
import RelayCore

/// What a worker has to write of a pursuit that it holds, after one or several events.
public struct PursuitWrite: Sendable {
    public enum Next: Sendable, Equatable {
        case rest(until: Timestamp)
        case finished
    }

    /// As it was claimed: the fence and the status that the write starts from.
    public var claimed: ClaimedPursuit
    /// As it is now.
    public var pursuit: Pursuit
    public var change: Decision.Change?
    public var events: [TimelineEvent]
    public var next: Next
    /// What Cleeng said of the subscription's owner, where a write before this one was answered by ``PursuitWriteOutcome/ownerInDoubt(_:)``.
    public var rival: OwnershipClaim.Rival?
    /// Patience of the read behind a grant.
    public var patience: OwnershipClaim.Patience

    public init(
        claimed: ClaimedPursuit, pursuit: Pursuit, change: Decision.Change?, events: [TimelineEvent], next: Next,
        rival: OwnershipClaim.Rival? = nil, patience: OwnershipClaim.Patience = .init()
    ) {
        self.claimed = claimed
        self.pursuit = pursuit
        self.change = change
        self.events = events
        self.next = next
        self.rival = rival
        self.patience = patience
    }

    /// What is written by this outcome. A grant that the store had taken back is written as `revoked`.
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
    /// Its connector does not take it: from now on its validation is of the driver that sends it as a receipt.
    var fallsBack: Bool { claimed.pursuit.phase.connector != nil && pursuit.phase == .forwarding }
    var isRelease: Bool { change == nil && next != .finished && !fallsBack }
}

/// Outcome of a ``PursuitWrite``.
public enum PursuitWriteOutcome: Sendable, Equatable {
    case written
    /// Written as `revoked`, for this reason: the store had taken the purchase back before Cleeng granted it.
    case writtenRevoked(reason: String)
    /// The lease had run out, or somebody else has it: nothing was written.
    case leaseLost
    /// The read that the grant rests on is older than the subscription's passing to its present owner, or so little younger that
    /// it may still be passing on: nothing was written, and the entitlement has to be read again.
    case readTooOld
    /// Somebody else owns the subscription, and whether they are entitled still decides: nothing was written. Cleeng is to be asked, and the
    /// same written again with its answer.
    case ownerInDoubt(RivalOwner)

    public var isWritten: Bool {
        switch self {
        case .written, .writtenRevoked: true
        case .leaseLost, .readTooOld, .ownerInDoubt: false
        }
    }
}

/// Where workers put what they have to write: writes that come together share a statement or a transaction.
public final class PursuitWriter: Sendable {
    private let releases: PostgresBatcher<PursuitWrite, PursuitWriteOutcome>
    private let settlements: PostgresBatcher<PursuitWrite, PursuitWriteOutcome>

    /// - Parameter listener: updates ledgers after grants. Without one, the ledgers are due.
    public init(store: RelayStore, listener: (any GrantListener)? = nil) {
        let (releaseSizes, settlementSizes) = (BatchSizes("releases"), BatchSizes("settlements"))
        releases = PostgresBatcher(maxCount: 500, maxWaiting: 100_000) { batch in
            releaseSizes.record(batch.count)
            return try await store.purchases.release(batch).map { .success($0) }
        }
        // Two writes of one validation never share a batch: the second starts from what the first one left.
        settlements = PostgresBatcher(
            maxCount: 200, maxWaiting: 100_000, key: { $0.claimed.id },
            flush: { batch in
                settlementSizes.record(batch.count)
                let result = try await store.purchases.settle(batch, listener: listener)
                if !result.outdated.isEmpty { listener?.updateLedgers(granted: result.outdated) }
                return result.outcomes.map { .success($0) }
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
