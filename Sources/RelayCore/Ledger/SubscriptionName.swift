/// Which subscription. Sandbox and production are two ledgers, and so are two publishers'.
public struct SubscriptionName: Sendable, Hashable {
    public var publisher: PublisherID
    /// `Production`, `Sandbox`, `Xcode`, `LocalTesting`.
    public var environment: StoreEnvironment
    public var originalTransactionID: TransactionID

    public init(publisher: PublisherID, environment: StoreEnvironment, originalTransactionID: TransactionID) {
        self.publisher = publisher
        self.environment = environment
        self.originalTransactionID = originalTransactionID
    }

    /// The same publisher's and environment's under another original transaction id.
    public func under(_ originalTransactionID: TransactionID) -> SubscriptionName {
        SubscriptionName(publisher: publisher, environment: environment, originalTransactionID: originalTransactionID)
    }

    /// The one in which its purchases are too.
    public var bucket: Bucket { Bucket(of: publisher, ofStore ?? originalTransactionID) }

    /// The name of what one purchase was granted by itself, although its receipt is of this subscription: its customer has the offer by
    /// something else. It is in this one's bucket.
    public func alone(_ validation: ValidationID) -> SubscriptionName {
        under(TransactionID("\(ofStore ?? originalTransactionID)#\(validation)"))
    }

    /// The name of what Cleeng entitles a customer to without a purchase that is known here. It stands alone too.
    public init(found id: ValidationID, of publisher: PublisherID) {
        self = SubscriptionName(
            publisher: publisher, environment: .unknown, originalTransactionID: TransactionID("\(id)")
        ).alone(id)
    }

    /// Whether it is such a name: no store knows it.
    public var standsAlone: Bool { ofStore != nil }

    /// Nil for a name that a store knows.
    private var ofStore: TransactionID? {
        let text = originalTransactionID.text
        guard let mark = text.utf8.lastIndex(of: UInt8(ascii: "#")),
            ValidationID(text[text.utf8.index(after: mark)...]) != nil
        else { return nil }
        return TransactionID(text[..<mark])
    }
}
