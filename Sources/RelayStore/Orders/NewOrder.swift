public import RelayCore

/// An order before it is written.
public struct NewOrder: Sendable {
    public enum Party: Sendable {
        case customer(BillingID)
        /// What the publisher gives of them: a JSON object.
        case newCustomer(details: String)
        case contract(BillingID)
    }

    public var publisher: PublisherID
    public var externalSubscription: BillingID
    public var party: Party

    public init(publisher: PublisherID, externalSubscription: BillingID, party: Party) {
        self.publisher = publisher
        self.externalSubscription = externalSubscription
        self.party = party
    }
}

/// What became of a ``NewOrder``.
public enum OrderOutcome: Sendable, Equatable {
    case created(BillingOrder)
    case unknownSubscription
    case unknownCustomer
    case unknownContract
    /// The subscription has a contract already.
    case conflict
    /// The contract is of another store's subscriptions.
    case otherPlatform(StorePlatform)
}

/// What became of a commit.
public enum CommitOutcome: Sendable, Equatable {
    case contract(BillingContract)
    /// The subscription has a contract, by another order.
    case conflict
    case unknownOrder
}
