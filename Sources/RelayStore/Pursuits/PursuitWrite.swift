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

    public init(
        claimed: ClaimedPursuit, pursuit: Pursuit, change: Decision.Change?, events: [TimelineEvent], next: Next,
        rival: OwnershipClaim.Rival? = nil
    ) {
        self.claimed = claimed
        self.pursuit = pursuit
        self.change = change
        self.events = events
        self.next = next
        self.rival = rival
    }

    var isRelease: Bool { change == nil && next != .finished }
}

/// What became of a ``PursuitWrite``.
public enum PursuitWriteOutcome: Sendable, Equatable {
    case written
    /// The lease had run out, or somebody else has it: nothing was written.
    case leaseLost
    /// The read that the grant rests on is older than the subscription's passing to its present owner, or so little younger that
    /// it may still be passing on: nothing was written, and the entitlement has to be read again.
    case readTooOld
    /// Somebody else owns the subscription, and whether they are entitled still decides: nothing was written. Cleeng is to be asked, and the
    /// same written again with its answer.
    case ownerInDoubt(RivalOwner)
}

/// Who owns a subscription that a grant to another customer is about.
public struct RivalOwner: Sendable, Equatable {
    public var key: CustomerKey
    public var email: EmailAddress
    /// The offer that the grant is for.
    public var offerID: OfferID
}
