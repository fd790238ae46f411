/// What the store tells of its own accord, as far as the relay acts on it. The message itself is kept beside it.
public struct StoreNotification: Sendable, Hashable {
    /// The numbers are stored.
    public enum Version: Int16, Sendable, CaseIterable {
        case one = 1
        case two = 2
    }

    public var store = StorePlatform.apple
    public var version: Version
    /// The same over all deliveries of one notification, and of no other.
    public var identity: String
    /// Version 2's own name for it.
    public var uuid: String?
    /// As the store writes it, known to this program or not.
    public var type: String
    public var subtype: String?
    public var environment: StoreEnvironment
    /// The app's; of Amazon's the customer's, which that store's API requires; of Roku's the channel.
    public var bundleID: BundleID?
    /// The app's, where `bundleID` is not.
    public var packageName: BundleID?
    /// Nil where the store finds the purchase without it.
    public var productID: ProductID?
    /// Nil where it is about no purchase.
    public var originalTransactionID: TransactionID?
    /// Other purchases that it concerns.
    public var related: [TransactionID] = []
    /// Nil where it did not come by a topic.
    public var topic: TopicNews?
    /// What the answer has to repeat, at Roku.
    public var responseKey: String?
    /// Whether nobody can tell who wrote it: then the store is asked only about what is known already.
    public var isUnproven = false
    /// Whether it says that the purchase is over, or that it runs, where its type alone does not tell.
    public var isOver: Bool?
    /// Nil where it does not ask how a purchase was used.
    public var consumption: ConsumptionDemand?
    /// JSON object for publishers' endpoints; nil if it says nothing beyond the purchases.
    public var notice: String?
    /// When it was said. Nil where it does not say.
    public var saidAt: Timestamp?
    /// Nil where it concerns no subscription's life. Other stores' notifications have none: the store is asked.
    public var word: LedgerStatement?

    public init(
        version: Version, identity: String, uuid: String? = nil, type: String, subtype: String? = nil,
        environment: StoreEnvironment, bundleID: BundleID?, originalTransactionID: TransactionID? = nil,
        saidAt: Timestamp?,
        word: LedgerStatement? = nil
    ) {
        self.version = version
        self.identity = identity
        self.uuid = uuid
        self.type = type
        self.subtype = subtype
        self.environment = environment
        self.bundleID = bundleID
        self.originalTransactionID = originalTransactionID
        self.saidAt = saidAt
        self.word = word
    }

    /// The app's id, which identifies its publisher.
    public var app: BundleID? { store == .amazon ? packageName : bundleID }
}
