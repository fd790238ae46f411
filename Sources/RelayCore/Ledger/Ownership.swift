/// Owners of subscriptions after a batch of grants. ``OwnershipClaim`` has the rules for one claim against one owner.
///
/// Claims are decided one after the other, the newest first: of one batch it alone can take the subscription.
///
/// `ownerNo` counts the owners of a subscription, and a granted validation carries the number of its owner: by the foreign key between them
/// the database refuses a commit that would leave two customers granted.
public struct Ownership: Sendable {
    public enum Outcome: Sendable, Equatable {
        /// Granted on this subscription, under its owner's number.
        case granted(SubscriptionName, ownerNo: Int32)
        /// The store had taken the purchase back: it opens nothing, and takes the subscription from nobody.
        case revoked(reason: String)
        /// The read may show a moment of a transfer: see ``OwnershipClaim/Verdict/readsAgain``.
        case readTooOld
        /// Cleeng is to be asked whether the owner is entitled still.
        case ownerInDoubt(RivalOwner)
    }

    /// A change of owner.
    public struct Transfer: Sendable, Equatable {
        public var subscription: SubscriptionName
        public var to: ValidationID
        public var toCustomer: CustomerID
        public var from: ValidationID
        public var fromCustomer: CustomerID

        public init(
            subscription: SubscriptionName, to: ValidationID, toCustomer: CustomerID, from: ValidationID,
            fromCustomer: CustomerID
        ) {
            self.subscription = subscription
            self.to = to
            self.toCustomer = toCustomer
            self.from = from
            self.fromCustomer = fromCustomer
        }
    }

    /// A validation whose customer owns a subscription from now on, or whose purchase is the owner's newest.
    public struct Taker: Sendable, Equatable {
        public var id: ValidationID
        public var name: SubscriptionName
        public var expiresAt: Timestamp?
        public var ownerNo: Int32
    }

    /// In the order of the grants.
    public private(set) var outcomes: [Outcome] = []
    public internal(set) var transfers: [Transfer] = []
    /// Changes of customers' purchases.
    public internal(set) var changes: [CustomerChange] = []
    /// One of each subscription at most.
    public internal(set) var takers: [Taker] = []
    /// Grants with a subscription of their own; see ``SubscriptionName/alone(_:)``.
    public internal(set) var alone: [Taker] = []
    /// Grants that made their subscription's row: nobody had it before.
    public internal(set) var makers: Set<ValidationID> = []

    /// A batch without grants.
    public init() {}

    /// - Parameters:
    ///   - grants: grants with access, whose leases are held.
    ///   - subscriptions: each grant's, as found.
    /// - Throws: ``UnknownSubscription`` where one was not found.
    public init(
        _ grants: [Grant], on subscriptions: [SubscriptionName: Subscription]
    ) throws(UnknownSubscription) {
        var subscriptions = subscriptions
        var outcomes = [Outcome](repeating: .readTooOld, count: grants.count)
        for index in grants.indices.sorted(by: { grants[$1].isOlder(than: grants[$0]) }) {
            let name = grants[index].name
            guard var subscription = subscriptions[name] else { throw UnknownSubscription(name: name) }
            outcomes[index] = decide(grants[index], &subscription)
            subscriptions[name] = subscription
        }
        self.outcomes = outcomes
    }

    /// A grant on a subscription that was not read.
    public struct UnknownSubscription: Error {
        public var name: SubscriptionName
    }
}

/// Present owner of a subscription that is granted to another customer.
public struct RivalOwner: Sendable, Equatable {
    public var key: CustomerKey
    public var email: EmailAddress
    /// The offer that the grant is for.
    public var offerID: OfferID

    public init(key: CustomerKey, email: EmailAddress, offerID: OfferID) {
        self.key = key
        self.email = email
        self.offerID = offerID
    }
}
