public import RelayCore

/// A notification as operators see it.
public struct OpsNotification: Sendable {
    /// Progress of the notification on its way to Cleeng. Raw values are stored.
    public enum RelayStatus: Int16, Sendable, CaseIterable {
        case off = 0
        case pending = 1
        case delivered = 2
        /// The notification cannot be processed and waits for an operator. Never stored: the queue's row has this
        /// state.
        case parked = 3

        public var name: String {
            switch self {
            case .off: "off"
            case .pending: "pending"
            case .delivered: "delivered"
            case .parked: "parked"
            }
        }
    }

    public var id: NotificationID
    /// Name as in ``StorePlatform``; a later version may have written another one.
    public var store: String
    public var version: Int16
    public var uuid: String?
    public var type: String
    public var subtype: String?
    public var publisher: PublisherID
    public var environment: StoreEnvironment
    public var bundleID: BundleID?
    public var originalTransactionID: TransactionID?
    public var signedAt: Timestamp
    public var receivedAt: Timestamp
    public var relay: RelayStatus
    public var attempts: Int
    public var relayedAt: Timestamp?
    public var lastError: String?
    /// Whether the version that last received or replayed it did not know its type.
    public var isOfUnknownType = false

    /// Whether an operator can confirm a topic's subscription with this notification.
    public var asksConfirmation: Bool {
        store == StorePlatform.amazon.rawValue
            && ["SubscriptionConfirmation", "UnsubscribeConfirmation"].contains(type)
    }
}

/// Selection of notifications.
public struct NotificationFilter: Sendable {
    public var relay: OpsNotification.RelayStatus?
    public var originalTransactionID: TransactionID?
    public var limit: Int
    /// Last row of the previous page, by time of receipt and id.
    public var cursor: ValidationCursor?

    public init(
        relay: OpsNotification.RelayStatus? = nil, originalTransactionID: TransactionID? = nil, limit: Int = 50,
        cursor: ValidationCursor? = nil
    ) {
        self.relay = relay
        self.originalTransactionID = originalTransactionID
        self.limit = limit
        self.cursor = cursor
    }
}
