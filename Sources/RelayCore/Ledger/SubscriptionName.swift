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
    public var bucket: Bucket { Bucket(of: publisher, originalTransactionID) }
}
