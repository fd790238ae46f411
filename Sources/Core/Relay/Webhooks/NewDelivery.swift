public import RelayCore
public import Traces

/// Like the id of a validation, it contains the row's location. It is the message's `webhook-id`.
public typealias DeliveryID = ValidationID

/// A message to one endpoint, before it is written.
public struct NewDelivery: Sendable {
    public let id: DeliveryID
    public let endpoint: EndpointID
    public let publisher: PublisherID
    /// Lane: the publisher's own name for the customer. Messages of one endpoint and lane are sent in order.
    public let lane: Username
    /// Orders the states of a lane, newer is greater; ``noticeSequence`` for a message about no customer.
    public let sequence: Int64
    /// JSON, without the password; see ``RelayCore/WebhookBody``.
    public let body: String
    /// Whether the body holds a whole state, so that undelivered older messages become unnecessary.
    public let replaces: Bool
    /// Trace of the request that caused it; see ``StoredTrace``.
    public let trace: String?

    /// - Parameter now: the database's time; its day becomes part of the id.
    public init(
        endpoint: EndpointID, publisher: PublisherID, lane: Username, sequence: Int64, body: String, replaces: Bool,
        at now: Timestamp, trace: String? = StoredTrace.current
    ) {
        var generator = SystemRandomNumberGenerator()
        id = DeliveryID(
            bucket: Bucket(of: publisher, lane), day: UInt16(clamping: now.daysSince1970), using: &generator)
        self.endpoint = endpoint
        self.publisher = publisher
        self.lane = lane
        self.sequence = sequence
        self.body = body
        self.replaces = replaces
        self.trace = trace
    }

    /// Sequence of notices. Customers' states begin with 1.
    static let noticeSequence: Int64 = 0

    /// A store's notice about no customer. It has its own lane with a random name, so it waits for no other message.
    init(notice body: String, endpoint: EndpointID, publisher: PublisherID, at now: Timestamp) {
        var generator = SystemRandomNumberGenerator()
        self.init(
            endpoint: endpoint, publisher: publisher, lane: Username(EndpointID(using: &generator).description),
            sequence: Self.noticeSequence, body: body, replaces: false, at: now)
    }
}
