public import RelayCore

/// A subscription that was checked, and whose it is.
public struct CheckedSubscription: Sendable, Equatable {
    public struct Contract: Sendable, Equatable {
        public var id: BillingID
        public var customer: BillingID
    }

    public var id: BillingID
    public var platform: StorePlatform
    /// Nil where no order of it was ever committed.
    public var contract: Contract?
}

/// Somebody whom a publisher makes contracts with.
public struct BillingCustomer: Sendable, Equatable {
    public var id: BillingID
    public var createdAt: Timestamp
    /// What the publisher gave of them: a JSON object.
    public var details: Private<String>
}

public struct BillingOrder: Sendable, Equatable {
    public var id: BillingID
    public var customer: BillingID
    /// There is one by that id once the order is completed, or where it is an upgrade.
    public var contract: BillingID
    public var externalSubscription: BillingID
    public var type: OrderType
    public var state: OrderState
    public var createdAt: Timestamp
    public var completedAt: Timestamp?
    public var platform: StorePlatform
    /// As the store names it; nil where nobody said.
    public var productID: ProductID?
    public var isTrial: Bool
}

public struct BillingContract: Sendable, Equatable {
    public var id: BillingID
    public var customer: BillingID
    public var platform: StorePlatform
    public var createdAt: Timestamp
    public var externalSubscriptions: [BillingID]
    public var standing: ContractStanding
}

/// Which of a publisher's rows, in the order in which they were written.
public struct BillingPage: Sendable {
    public static let standard = 100
    public static let most = 500

    public var take: Int
    /// The last one of the page before.
    public var from: BillingID?

    public init(take: Int = standard, from: BillingID? = nil) {
        self.take = take
        self.from = from
    }
}
