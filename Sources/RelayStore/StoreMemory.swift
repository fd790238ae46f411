import Logging
public import RelayCore

/// What the stores of one process share besides the database: its name and clock, the keys, and what it remembers of the tables.
public final class StoreMemory: Sendable {
    public let vault: Vault
    /// The name under which this process writes leases and timelines.
    public let instance: String
    let logger: Logger
    /// The database's time.
    public let clock = DatabaseClock()
    /// This process's waiters for validations.
    public let changes = ChangeHub()
    /// What apps ask for again, and what they wait for.
    let validations = ValidationCache()
    /// Cached purchases of customers.
    let purchases = PurchaseCache()
    /// What publishers sell, as it was read last.
    public let catalogue = OfferCatalogue()

    /// When each store was last written to have sent a notification.
    let noted = Noted()
    /// The stores to which the relay acknowledges each grant.
    public let acknowledged: Set<StorePlatform>
    /// After which a store is asked again about what gives access, if it keeps no list of what it took back.
    let recheck: Duration
    public static let standardRecheck = Duration.seconds(86_400)

    /// This process has committed a change of somebody's purchases.
    let onCustomersChanged: @Sendable () -> Void
    /// This process has committed a message to an endpoint.
    let onMessagesQueued: @Sendable () -> Void
    /// This process has committed a question to a store.
    let onQuestionsAsked: @Sendable () -> Void

    init(
        vault: Vault, instance: String, logger: Logger, acknowledged: Set<StorePlatform>,
        recheck: Duration,
        onCustomersChanged: @escaping @Sendable () -> Void, onMessagesQueued: @escaping @Sendable () -> Void,
        onQuestionsAsked: @escaping @Sendable () -> Void
    ) {
        self.vault = vault
        self.instance = instance
        self.logger = logger
        self.acknowledged = acknowledged
        self.recheck = recheck
        self.onCustomersChanged = onCustomersChanged
        self.onMessagesQueued = onMessagesQueued
        self.onQuestionsAsked = onQuestionsAsked
    }
}
