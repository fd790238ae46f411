public import RelayCore

/// An event of Cleeng's as ops sees it.
public struct OpsEvent: Sendable {
    public enum Status: String, Sendable, CaseIterable {
        case pending, handled, parked
    }

    public var id: NotificationID
    public var topic: String
    /// The publisher whose own account at Cleeng signed it; nil: the one that publishers share.
    public var account: PublisherID?
    public var receivedAt: Timestamp
    public var status: Status
    public var attempts: Int
    /// What came of it.
    public var outcome: String?
    public var lastError: String?
    public var parkedAt: Timestamp?
    public var nextTryAt: Timestamp?
}

/// Which events.
public struct EventFilter: Sendable {
    public var status: OpsEvent.Status?
    public var limit: Int
    /// Last row of the previous page: when it was received, and its id.
    public var cursor: ValidationCursor?

    public init(status: OpsEvent.Status? = nil, limit: Int = 50, cursor: ValidationCursor? = nil) {
        self.status = status
        self.limit = limit
        self.cursor = cursor
    }
}
