public import RelayCore

/// An event from Cleeng as operators see it.
public struct OpsEvent: Sendable {
    public enum Status: String, Sendable, CaseIterable {
        case pending, handled, parked
    }

    public var id: NotificationID
    public var topic: String
    /// Publisher whose own account at Cleeng signed the event; nil for the shared account.
    public var account: PublisherID?
    public var receivedAt: Timestamp
    public var status: Status
    public var attempts: Int
    /// Result of processing the event.
    public var outcome: String?
    public var lastError: String?
    public var parkedAt: Timestamp?
    public var nextTryAt: Timestamp?
}

/// Selection of events.
public struct EventFilter: Sendable {
    public var status: OpsEvent.Status?
    public var limit: Int
    /// Last row of the previous page, by time of receipt and id.
    public var cursor: ValidationCursor?

    public init(status: OpsEvent.Status? = nil, limit: Int = 50, cursor: ValidationCursor? = nil) {
        self.status = status
        self.limit = limit
        self.cursor = cursor
    }
}
