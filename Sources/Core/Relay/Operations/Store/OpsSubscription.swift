import Formats
public import RelayCore

/// A subscription as operators see it.
public struct OpsSubscription: Sendable {
    /// One entry of its timeline.
    public struct Entry: Sendable {
        public var at: Timestamp
        public var event: String
        public var detail: String?
        /// Status after the entry; nil if it is unknown.
        public var status: SubscriptionState.Status?
        public var expiresAt: Timestamp?
        /// Source of the entry.
        public var validation: ValidationID?
        public var notification: NotificationID?
    }

    public var name: SubscriptionName
    /// Nil if no customer has claimed the subscription.
    public var email: EmailAddress?
    public var offerID: OfferID?
    public var validation: ValidationID?
    /// Nil if the grant is the only known fact.
    public var status: SubscriptionState.Status?
    public var willRenew: Bool?
    public var expiresAt: Timestamp?
    public var productID: ProductID?
    public var autoRenewProductID: ProductID?
    public var reason: String?
    public var bundleID: BundleID?
    /// Time of the next evaluation, if no new statement arrives before.
    public var dueAt: Timestamp?
    /// Why the last evaluation failed.
    public var trouble: String?
    /// Time of parking; nil if the subscription is not parked.
    public var parkedAt: Timestamp?
    /// Problem of the granted access; nil if no check looked for one.
    public var problem: AccessProblem?
    /// Store offer of its newest period.
    public var storeOffer: StoreOffer?
    /// Entries, oldest first.
    public var timeline: [Entry] = []
}

/// Selection of subscriptions.
public struct SubscriptionFilter: Sendable {
    public var originalTransactionID: TransactionID?
    public var customer: CustomerID?
    /// Lists only parked subscriptions, of all customers.
    public var isParked: Bool
    public var limit: Int
    public var cursor: SubscriptionCursor?

    public init(
        originalTransactionID: TransactionID? = nil, customer: CustomerID? = nil, isParked: Bool = false,
        limit: Int = 50,
        cursor: SubscriptionCursor? = nil
    ) {
        self.isParked = isParked
        self.originalTransactionID = originalTransactionID
        self.customer = customer
        self.limit = limit
        self.cursor = cursor
    }
}

/// The last subscription of a page.
public struct SubscriptionCursor: Sendable, Hashable, CustomStringConvertible {
    public let name: SubscriptionName

    public init(_ name: SubscriptionName) { self.name = name }

    public init?(_ text: String) {
        guard let bytes = Hex.bytes(text[...]), let plain = String(validating: bytes, as: UTF8.self) else { return nil }
        let parts = plain.parts(at: "\n").map(String.init)
        guard parts.count == 3, !plain.utf8.contains(0) else { return nil }
        name = SubscriptionName(
            publisher: PublisherID(parts[0]), environment: StoreEnvironment(parts[1]),
            originalTransactionID: TransactionID(parts[2]))
    }

    public var description: String {
        Hex.text(
            of: Array(
                [name.publisher.text, name.environment.text, name.originalTransactionID.text].joined(separator: "\n")
                    .utf8))
    }
}
