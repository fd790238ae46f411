public import RelayCore

/// A subscription as ops sees it.
public struct OpsSubscription: Sendable {
    /// One thing that happened to it.
    public struct Entry: Sendable {
        public var at: Timestamp
        public var event: String
        public var detail: String?
        /// How it stood after that; nil where that is not known.
        public var status: SubscriptionStanding.Status?
        public var expiresAt: Timestamp?
        /// What it was learned from.
        public var validation: ValidationID?
        public var notification: NotificationID?
    }

    public var name: SubscriptionName
    /// Nil where nobody has claimed it.
    public var email: EmailAddress?
    public var offerID: OfferID?
    public var validation: ValidationID?
    /// Nil where nothing but the grant is known of it.
    public var status: SubscriptionStanding.Status?
    public var willRenew: Bool?
    public var expiresAt: Timestamp?
    public var productID: ProductID?
    public var autoRenewProductID: ProductID?
    public var reason: String?
    public var bundleID: BundleID?
    /// When it is looked at next without anybody's word.
    public var dueAt: Timestamp?
    /// Why it could not be looked at.
    public var trouble: String?
    /// Since when it waits for an operator; nil where it is not parked.
    public var parkedAt: Timestamp?
    /// What may be wrong with its access; nil where nobody looked for that.
    public var problem: AccessProblem?
    /// Store offer of its newest period.
    public var storeOffer: StoreOffer?
    /// Oldest first.
    public var timeline: [Entry] = []
}

/// Which subscriptions.
public struct SubscriptionFilter: Sendable {
    public var originalTransactionID: TransactionID?
    public var customer: CustomerID?
    /// Only those that wait for an operator, of whichever customer.
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
