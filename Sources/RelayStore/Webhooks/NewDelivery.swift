public import RelayCore
public import Traces

/// Ids of deliveries are made as those of validations are: where the row is stands in them. It is the message's `webhook-id`.
public typealias DeliveryID = ValidationID

/// A message to one endpoint, before it is written.
public struct NewDelivery: Sendable {
    public let id: DeliveryID
    public let endpoint: EndpointID
    public let publisher: PublisherID
    /// Whom it is about: the publisher's own name for a customer. Of one endpoint and lane messages go in order.
    public let lane: Username
    /// Orders the states of a lane, newer is greater; ``noticeSequence`` for what concerns no customer.
    public let sequence: Int64
    /// JSON, without the password; see ``RelayCore/WebhookBody``.
    public let body: String
    /// It holds a whole state: what was not delivered of older ones need not be any more.
    public let replaces: Bool
    /// In which it came to be; see ``StoredTrace``.
    public let trace: String?

    /// - Parameter now: by the database's clock: by its day the row is found.
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

    /// Marks a notice among the messages. Customers' states begin with 1.
    static let noticeSequence: Int64 = 0

    /// What a store said that concerns no customer. Its lane is its own, with a made-up name: it waits for no other message.
    init(notice body: String, endpoint: EndpointID, publisher: PublisherID, at now: Timestamp) {
        var generator = SystemRandomNumberGenerator()
        self.init(
            endpoint: endpoint, publisher: publisher, lane: Username(EndpointID(using: &generator).description),
            sequence: Self.noticeSequence, body: body, replaces: false, at: now)
    }
}
