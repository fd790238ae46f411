/// The parts of a store's notification that the relay acts on. The raw message is stored beside it.
public struct StoreNotification: Sendable, Hashable {
    /// Raw values are stored.
    public enum Version: Int16, Sendable, CaseIterable {
        case one = 1
        case two = 2
    }

    public var store = StorePlatform.apple
    public var version: Version
    /// Key that all deliveries of one notification share, and no other notification has.
    public var identity: String
    /// Apple's UUID of it, in version 2 only.
    public var uuid: String?
    /// The store's text, which may be unknown to this program.
    public var type: String
    public var subtype: String?
    /// False for an App Store type that this program does not know. Its transaction counts nevertheless.
    public var isKnownType = true
    public var environment: StoreEnvironment
    /// The app. Amazon: the customer, whom that store's API requires. Roku: the channel.
    public var bundleID: BundleID?
    /// The app, if `bundleID` holds something else.
    public var packageName: BundleID?
    /// Nil if the store finds the purchase without it.
    public var productID: ProductID?
    /// Nil if it is not about a purchase.
    public var originalTransactionID: TransactionID?
    /// Other affected purchases.
    public var related: [TransactionID] = []
    /// State of the topic's subscription; nil if no topic delivered the message.
    public var topic: TopicStatement?
    /// Key that the answer to Roku must repeat.
    public var responseKey: String?
    /// Whether its sender is not proven. Then the store is asked only about purchases that the relay knows already.
    public var isUnproven = false
    /// Whether it states that the purchase is over (true) or runs (false), if its type alone does not.
    public var isOver: Bool?
    /// Nil if it reports no refund. Nil for Apple, whose transactions state it.
    public var refund: LedgerRefund?
    /// Apple's question how a purchase was used; nil otherwise.
    public var consumption: ConsumptionDemand?
    /// JSON object for publishers' endpoints; nil if it contains nothing beyond the purchases.
    public var notice: String?
    /// Time of the statement; nil if the message has none.
    public var saidAt: Timestamp?
    /// Statement for the ledger; nil if it does not concern the state of a subscription. Nil for stores other than
    /// Apple: the relay asks the store instead.
    public var statement: LedgerStatement?

    public init(
        version: Version, identity: String, uuid: String? = nil, type: String, subtype: String? = nil,
        environment: StoreEnvironment, bundleID: BundleID?, originalTransactionID: TransactionID? = nil,
        saidAt: Timestamp?,
        statement: LedgerStatement? = nil
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
        self.statement = statement
    }

    /// Id of the app, which identifies the publisher.
    public var app: BundleID? { store == .amazon ? packageName : bundleID }
}
