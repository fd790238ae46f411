public import RelayCore

/// A message to a webhook endpoint as ops sees it.
public struct OpsDelivery: Sendable, Equatable {
    public var id: DeliveryID
    public var endpoint: String
    public var url: String
    public var publisher: PublisherID
    public var applicationUsername: Username
    public var state: DeliveryState
    public var tries: Int
    public var lastStatus: Int?
    public var lastError: String?
    public var createdAt: Timestamp
    public var finishedAt: Timestamp?
    /// Nil where it is under way, or has ended.
    public var nextTryAt: Timestamp?
}

/// Which deliveries.
public struct DeliveryFilter: Sendable {
    public var state: DeliveryState?
    public var endpoint: EndpointID?
    public var applicationUsername: Username?
    public var limit: Int
    /// Last row of the previous page: when it was made, and its id.
    public var cursor: ValidationCursor?

    public init(
        state: DeliveryState? = nil, endpoint: EndpointID? = nil, applicationUsername: Username? = nil, limit: Int = 50,
        cursor: ValidationCursor? = nil
    ) {
        self.state = state
        self.endpoint = endpoint
        self.applicationUsername = applicationUsername
        self.limit = limit
        self.cursor = cursor
    }
}

/// Endpoints that receive the present state again.
public struct RepeatTarget: Sendable, Hashable {
    public var publisher: PublisherID
    public var username: Username
    public var endpoint: EndpointID
}

/// Which messages a range of repeats begins with.
public struct RepeatFilter: Sendable {
    public var from: Timestamp
    public var to: Timestamp
    public var endpoint: EndpointID?
    /// Those that were delivered too.
    public var includesDelivered: Bool
    public var limit: Int
    /// The last of the page before.
    public var after: RepeatTarget?

    public init(
        from: Timestamp, to: Timestamp, endpoint: EndpointID? = nil, includesDelivered: Bool = false, limit: Int = 200
    ) {
        self.from = from
        self.to = to
        self.endpoint = endpoint
        self.includesDelivered = includesDelivered
        self.limit = limit
    }
}
