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
    public var ownerReading: OwnerReading?
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

    /// Cleeng's answer whether the owner still has the offer.
    public struct OwnerReading: Sendable, Hashable {
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
        acceptedAt: Timestamp, observedAt: Timestamp, entitledBefore: Bool?, isProven: Bool,
        ownerReading: OwnerReading? = nil, progress: ReadProgress = .init()
    ) {
        self.acceptedAt = acceptedAt
        self.observedAt = observedAt
        self.entitledBefore = entitledBefore
        self.isProven = isProven
        self.ownerReading = ownerReading
        self.progress = progress
    }

    /// Decides what follows when Cleeng entitles this customer, and another one owns the subscription. The rules stand
    /// in the order of the table in docs/design/ownership.md.
    ///
    /// - Parameter owner: nil if the subscription has no owner, or if this customer owns it.
    public func judge(against owner: Owner?) -> Verdict {
        guard let owner else { return .takes }
        if isProvenNewer(than: owner) { return .takes }
        if isReadBeforeGrant(of: owner) || isIntermediate(for: owner) { return .readsAgain }
        guard let answer = ownerReading, answer.observedAt > owner.since else { return .asksOfOwner }
        if !answer.isEntitled {
            return mayTake(from: owner, answer) ? .takes : lastResort(progress.hasWaited ? .takes : .standsAlone)
        }
        return showsBothEntitled(owner, answer) ? .standsAlone : lastResort(.standsAlone)
    }

    /// Whether the request is newer than the owner's, and Cleeng's grant can only be for it. Of two requests
    /// with the same time, which two copies may accept, neither is newer: Cleeng may have handled them in either order.
    private func isProvenNewer(than owner: Owner) -> Bool {
        isNewer(than: owner) && (isProven || entitledBefore == false)
    }

    private func isNewer(than owner: Owner) -> Bool { acceptedAt > owner.acceptedAt }

    /// Whether the read shows the time before the owner's grant. It shows neither that the subscription has moved to
    /// this customer, nor that both have the offer, each through a purchase of their own.
    private func isReadBeforeGrant(of owner: Owner) -> Bool { observedAt <= owner.since }

    /// Whether Cleeng may still be moving the subscription from this older request on to the owner's. The third read and
    /// the last one count all the same.
    private func isIntermediate(for owner: Owner) -> Bool {
        !isNewer(than: owner) && progress == .init() && observedAt <= owner.unsettledUntil
    }

    /// Whether Cleeng took the offer from the owner for good: an older request must see that after the owner's
    /// grant is settled.
    private func mayTake(from owner: Owner, _ answer: OwnerReading) -> Bool {
        let settled = isNewer(than: owner) ? owner.since : owner.unsettledUntil
        return observedAt > settled && answer.observedAt > settled
    }

    /// Whether both have the offer at once. The two reads show two moments: in between, Cleeng may have moved the
    /// subscription to a newer request, perhaps the owner's own.
    private func showsBothEntitled(_ owner: Owner, _ answer: OwnerReading) -> Bool {
        let mayMove = owner.newestWaiting.map { $0 > acceptedAt } ?? false
        return (progress.hasWaited || answer.observedAt > owner.unsettledUntil) && !mayMove
    }

    /// The verdict that the app gets because no later read can answer it.
    private func lastResort(_ verdict: Verdict) -> Verdict { progress.isLastRead ? verdict : .readsAgain }
}
