/// Key of a subscription. Sandbox and production have separate ledgers, and so do publishers.
public struct SubscriptionName: Sendable, Hashable {
    public var publisher: PublisherID
    /// `Production`, `Sandbox`, `Xcode`, `LocalTesting`, or `unknown`: no store has confirmed the purchase.
    public var environment: StoreEnvironment
    public var originalTransactionID: TransactionID

    public init(publisher: PublisherID, environment: StoreEnvironment, originalTransactionID: TransactionID) {
        self.publisher = publisher
        self.environment = environment
        self.originalTransactionID = originalTransactionID
    }

    /// The key with another original transaction id, for the same publisher and environment.
    public func under(_ originalTransactionID: TransactionID) -> SubscriptionName {
        SubscriptionName(publisher: publisher, environment: environment, originalTransactionID: originalTransactionID)
    }

    public var platform: StorePlatform { StorePlatform(subscriptionKey: originalTransactionID) }

    /// Whether only an app names it: a purchase that Apple's signature does not name. Nothing lengthens it but Cleeng.
    public var isOnlyNamed: Bool { environment == .unknown && isApples }

    /// The names that Apple signs for the same id. What Apple says about them can end this one.
    public var namesakes: [SubscriptionName] { isOnlyNamed ? StoreEnvironment.ofApple.map(inEnvironment) : [] }

    /// The name of purchases that only apps gave this id; nil for another store's, and for such a name itself.
    public var onlyNamed: SubscriptionName? { environment != .unknown && isApples ? inEnvironment(.unknown) : nil }

    /// The name of purchases with this key that their store has not confirmed; nil for the App Store's, which are signed,
    /// and for such a name itself.
    public var unconfirmed: SubscriptionName? {
        environment != .unknown && StorePlatform.asked.contains(platform) ? inEnvironment(.unknown) : nil
    }

    private var isApples: Bool { !standsAlone && platform == .apple }

    private func inEnvironment(_ environment: StoreEnvironment) -> SubscriptionName {
        SubscriptionName(publisher: publisher, environment: environment, originalTransactionID: originalTransactionID)
    }

    /// The bucket, which it shares with its purchases.
    public var bucket: Bucket { Bucket(of: publisher, ofStore ?? originalTransactionID) }

    /// Standalone key, in the same bucket, of a granted purchase whose receipt names this subscription. Its customer is
    /// not the subscription's owner: Cleeng entitles the customer for another reason.
    public func alone(_ validation: ValidationID) -> SubscriptionName {
        under(TransactionID("\(ofStore ?? originalTransactionID)#\(validation)"))
    }

    /// Key of a grant by Cleeng for which the relay knows no purchase. It is standalone too.
    public init(found id: ValidationID, of publisher: PublisherID) {
        self = SubscriptionName(
            publisher: publisher, environment: .unknown, originalTransactionID: TransactionID("\(id)")
        ).alone(id)
    }

    /// Whether it is such a standalone key, which no store knows.
    public var standsAlone: Bool { ofStore != nil }

    /// The subscription that the receipt of a standalone purchase names; nil for a key that a store knows.
    public var named: SubscriptionName? { ofStore.map(under) }

    /// The store's id inside a standalone key; nil for a key that a store knows.
    private var ofStore: TransactionID? {
        let text = originalTransactionID.text
        guard let mark = text.utf8.lastIndex(of: UInt8(ascii: "#")),
            ValidationID(text[text.utf8.index(after: mark)...]) != nil
        else { return nil }
        return TransactionID(text[..<mark])
    }
}
