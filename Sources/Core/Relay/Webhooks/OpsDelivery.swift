public import RelayCore

/// A message to a webhook endpoint, as operators see it.
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
    /// Nil if it is being sent, or has ended.
    public var nextTryAt: Timestamp?
}

/// Filter of a list of deliveries.
public struct DeliveryFilter: Sendable {
    public var state: DeliveryState?
    public var endpoint: EndpointID?
    public var applicationUsername: Username?
    public var limit: Int
    /// Last row of the previous page: its creation time and its id.
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

/// A customer and endpoint for which the current state is sent again.
public struct RepeatTarget: Sendable, Hashable {
    public var publisher: PublisherID
    /// Nil if it cannot be read.
    public var username: Username?
    public var endpoint: EndpointID
    /// The username as stored, possibly sealed.
    var storedLane: String
}

/// Outcome of repeating a range.
public struct RepeatOutcome: Sendable, Equatable, CustomStringConvertible {
    /// New messages.
    public var sent = 0
    /// Customers that cannot be read, each counted once for each endpoint.
    public var failed = 0
    /// The first ``mostReasons`` of their publishers, endpoints and errors.
    public var reasons: [String] = []

    public static let mostReasons = 10

    public init() {}

    public var description: String { "\(sent) messages" + (failed > 0 ? ", \(failed) customers not" : "") }
}

/// Selects the messages and changes to repeat.
public struct RepeatFilter: Sendable {
    public var from: Timestamp
    public var to: Timestamp
    public var endpoint: EndpointID?
    /// Includes messages that were delivered.
    public var includesDelivered: Bool
    /// Days for which messages are kept. Of an older change it is unknown whether it was sent. Nil: for ever.
    public var keptDays: Int?
    public var limit: Int
    /// Last target of the previous page.
    public var after: RepeatTarget?

    public init(
        from: Timestamp, to: Timestamp, endpoint: EndpointID? = nil, includesDelivered: Bool = false,
        keptDays: Int? = nil, limit: Int = 200
    ) {
        self.from = from
        self.to = to
        self.endpoint = endpoint
        self.includesDelivered = includesDelivered
        self.keptDays = keptDays
        self.limit = limit
    }
}
