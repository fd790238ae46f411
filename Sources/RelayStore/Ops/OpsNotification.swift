public import RelayCore

/// A notification as ops sees it.
public struct OpsNotification: Sendable {
    /// How far it has come on its way to Cleeng. The numbers are stored.
    public enum RelayStatus: Int16, Sendable, CaseIterable {
        case off = 0
        case pending = 1
        case delivered = 2
        /// It cannot be processed and waits for an operator. Never stored so: the queue says it.
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
    /// As ``StorePlatform`` names them; a later version may know more.
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

    /// Whether a subscription to a topic can be confirmed by it.
    public var asksConfirmation: Bool {
        store == StorePlatform.amazon.rawValue
            && ["SubscriptionConfirmation", "UnsubscribeConfirmation"].contains(type)
    }
}

/// Which notifications.
public struct NotificationFilter: Sendable {
    public var relay: OpsNotification.RelayStatus?
    public var originalTransactionID: TransactionID?
    public var limit: Int
    /// Last row of the previous page: when it was received, and its id.
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
