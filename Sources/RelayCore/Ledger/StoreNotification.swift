/// What the store tells of its own accord, as far as the relay acts on it. The message itself is kept beside it.
public struct StoreNotification: Sendable, Hashable {
    /// The numbers are stored.
    public enum Version: Int16, Sendable, CaseIterable {
        case one = 1
        case two = 2
    }

    public var version: Version
    /// The same over all deliveries of one notification, and of no other.
    public var identity: String
    /// Version 2's own name for it.
    public var uuid: String?
    /// As the store writes it, known to this program or not.
    public var type: String
    public var subtype: String?
    public var environment: StoreEnvironment
    public var bundleID: BundleID?
    /// Nil where it is about no purchase.
    public var originalTransactionID: TransactionID?
    /// When it was said. Nil where it does not say.
    public var saidAt: Timestamp?
    /// Nil where it concerns no subscription's life.
    public var word: LedgerWord?

    public init(
        version: Version, identity: String, uuid: String? = nil, type: String, subtype: String? = nil,
        environment: StoreEnvironment, bundleID: BundleID?, originalTransactionID: TransactionID? = nil,
        saidAt: Timestamp?,
        word: LedgerWord? = nil
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
}
