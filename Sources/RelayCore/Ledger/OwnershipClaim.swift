/// A grant to one customer, on a subscription that another may own.
public struct OwnershipClaim: Sendable, Hashable {
    public var acceptedAt: Timestamp
    /// When the read was sent that the grant rests on.
    public var observedAt: Timestamp
    /// Whether the customer had the offer before the purchase was sent. Nil where nobody knows.
    public var entitledBefore: Bool?
    /// Cleeng named this purchase, and not the customer's access alone: a synchronization's result, or its word of a transfer.
    public var isProven: Bool
    /// What Cleeng said of the owner, asked since.
    public var rival: Rival?
    public var patience: Patience

    /// How long a customer whom Cleeng entitles has waited for the subscription to come to rest.
    public struct Patience: Sendable, Hashable {
        /// The read is the third one after the forward, or a later one: by now Cleeng has done what it does about this purchase.
        public var hasWaited: Bool
        /// It is the last read before the deadline.
        public var isLastRead: Bool

        /// - Parameters: both false for a read that no app waits for.
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
        /// When Cleeng's grant to the owner was recorded: what was read of others before says nothing.
        public var since: Timestamp
        /// Until then Cleeng may still be passing it to an older request and on to the owner's: what is read of others says nothing.
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
        /// The subscription is this customer's from now on.
        case takes
        /// The customer has the offer by something else: the grant stands by itself, and the subscription stays where it is.
        case standsAlone
        /// Cleeng is to be asked whether the owner has the offer still.
        case asksOfOwner
        /// What was read may be a moment on the way: it is read again.
        case readsAgain
    }

    public init(
        acceptedAt: Timestamp, observedAt: Timestamp, entitledBefore: Bool?, isProven: Bool, rival: Rival? = nil,
        patience: Patience = .init()
    ) {
        self.acceptedAt = acceptedAt
        self.observedAt = observedAt
        self.entitledBefore = entitledBefore
        self.isProven = isProven
        self.rival = rival
        self.patience = patience
    }

    /// - Parameter owner: nil where nobody has it, or this customer.
    public func judge(against owner: Owner?) -> Verdict {
        guard let owner else { return .takes }
        // Requests of one batch are accepted at the same moment. Cleeng may have handled them in either order.
        let isNewer = acceptedAt > owner.acceptedAt
        if isNewer, isProven || entitledBefore == false { return .takes }
        // Either the subscription has passed to this customer, or both have the offer, each by something of their own. What was read before
        // the owner got it shows neither.
        guard observedAt > owner.since else { return .readsAgain }
        if !isNewer, patience == .init(), observedAt <= owner.unsettledUntil { return .readsAgain }
        guard let rival, rival.observedAt > owner.since else { return .asksOfOwner }
        guard rival.isEntitled else {
            // An older request takes nothing from the owner while Cleeng may still be passing it on.
            let passedBy = isNewer ? owner.since : owner.unsettledUntil
            if observedAt > passedBy, rival.observedAt > passedBy { return .takes }
            guard patience.isLastRead else { return .readsAgain }
            return patience.hasWaited ? .takes : .standsAlone
        }
        // The two reads show two moments. Between them Cleeng may have moved it to a newer request, which may be the owner's own.
        let mayMove = owner.newestWaiting.map { $0 > acceptedAt } ?? false
        let isSettled = (patience.hasWaited || rival.observedAt > owner.unsettledUntil) && !mayMove
        return isSettled || patience.isLastRead ? .standsAlone : .readsAgain
    }
}
