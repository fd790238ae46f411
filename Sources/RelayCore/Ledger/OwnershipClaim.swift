/// A grant to one customer, on a subscription that another customer may own.
public struct OwnershipClaim: Sendable, Hashable {
    public var acceptedAt: Timestamp
    /// Time at which the read behind the grant was sent.
    public var observedAt: Timestamp
    /// Whether the customer had the offer before the purchase was sent. Nil if unknown.
    public var entitledBefore: Bool?
    /// Whether Cleeng named this purchase, and not only the customer's access: in a synchronization's result, or in a
    /// reported transfer.
    public var isProven: Bool
    /// Cleeng's later answer about the owner, if it was asked.
    public var rival: Rival?
    public var progress: ReadProgress

    /// How far the reads for an entitled customer have come before the deadline.
    public struct ReadProgress: Sendable, Hashable {
        /// The read was sent at least two intervals after the forward. By then Cleeng has finished processing this purchase.
        public var hasWaited: Bool
        /// The read is the last one before the deadline.
        public var isLastRead: Bool

        /// - Parameters: both are false for a read that no app waits for.
        public init(hasWaited: Bool = false, isLastRead: Bool = false) {
            self.hasWaited = hasWaited
            self.isLastRead = isLastRead
        }
    }

    public struct Rival: Sendable, Hashable {
        public var isEntitled: Bool
        public var observedAt: Timestamp

        public init(isEntitled: Bool, observedAt: Timestamp) {
            self.isEntitled = isEntitled
            self.observedAt = observedAt
        }
    }

    /// The subscription's present owner, a customer with another email.
    public struct Owner: Sendable, Hashable {
        public var acceptedAt: Timestamp
        /// Time at which Cleeng's grant to the owner was recorded. Earlier reads of other customers prove nothing.
        public var since: Timestamp
        /// Until this time, Cleeng may still be moving the subscription to an older request and then on to the owner's.
        /// Reads of other customers prove nothing until then.
        public var unsettledUntil: Timestamp
        /// Acceptance time of the newest request for the subscription whose app still waits, if any.
        public var newestWaiting: Timestamp?

        public init(
            acceptedAt: Timestamp, since: Timestamp, unsettledUntil: Timestamp, newestWaiting: Timestamp? = nil
        ) {
            self.acceptedAt = acceptedAt
            self.since = since
            self.unsettledUntil = unsettledUntil
            self.newestWaiting = newestWaiting
        }
    }

    public enum Verdict: Sendable, Hashable {
        /// This customer becomes the subscription's owner.
        case takes
        /// The customer has the offer through another purchase. The grant gets a subscription of its own, and the owner
        /// does not change.
        case standsAlone
        /// The worker must ask Cleeng whether the owner still has the offer.
        case asksOfOwner
        /// The read may show an intermediate state of a transfer. The worker must read the entitlement again.
        case readsAgain
    }

    public init(
        acceptedAt: Timestamp, observedAt: Timestamp, entitledBefore: Bool?, isProven: Bool, rival: Rival? = nil,
        progress: ReadProgress = .init()
    ) {
        self.acceptedAt = acceptedAt
        self.observedAt = observedAt
        self.entitledBefore = entitledBefore
        self.isProven = isProven
        self.rival = rival
        self.progress = progress
    }

    /// Decides what follows when Cleeng entitles this customer, and another one owns the subscription. The rules, in their
    /// order: docs/design/ownership.md.
    ///
    /// - Parameter owner: nil if the subscription has no owner, or if this customer owns it.
    public func judge(against owner: Owner?) -> Verdict {
        guard let owner else { return .takes }
        // Requests of one batch are accepted at the same moment. Cleeng may have handled them in either order.
        let isNewer = acceptedAt > owner.acceptedAt
        if isNewer, isProven || entitledBefore == false { return .takes }
        // Either the subscription has moved to this customer, or both customers have the offer, each through a purchase
        // of their own. A read from before the owner's grant shows neither.
        guard observedAt > owner.since else { return .readsAgain }
        if !isNewer, progress == .init(), observedAt <= owner.unsettledUntil { return .readsAgain }
        guard let rival, rival.observedAt > owner.since else { return .asksOfOwner }
        guard rival.isEntitled else {
            // An older request takes nothing from the owner while Cleeng may still be moving the subscription on to the
            // owner.
            let passedBy = isNewer ? owner.since : owner.unsettledUntil
            if observedAt > passedBy, rival.observedAt > passedBy { return .takes }
            guard progress.isLastRead else { return .readsAgain }
            return progress.hasWaited ? .takes : .standsAlone
        }
        // The two reads show two moments. In between, Cleeng may have moved the subscription to a newer request,
        // perhaps the owner's own.
        let mayMove = owner.newestWaiting.map { $0 > acceptedAt } ?? false
        let isSettled = (progress.hasWaited || rival.observedAt > owner.unsettledUntil) && !mayMove
        return isSettled || progress.isLastRead ? .standsAlone : .readsAgain
    }
}
