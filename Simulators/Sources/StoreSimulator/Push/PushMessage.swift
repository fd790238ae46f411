import Foundation

/// A message that a store pushes.
struct PushMessage<Content: Sendable>: Sendable {
    /// Number in the list of messages.
    let sequence: Int
    let id: String
    let content: Content
    let publishedAt: Date
}

/// One copy of a message in flight.
struct PushDelivery<Content: Sendable>: Sendable {
    let message: PushMessage<Content>
    /// A delivery from before the outbox was emptied is not retried.
    let generation: Int
    /// Whether it is sent even while the outbox is closed.
    var isHandshake = false
    var tries = 0
    /// Whether it was held, and so waits for the previous one.
    var inOrder = false
}

/// An entry of the list of messages.
struct LoggedMessage: Sendable, Encodable {
    let messageId: String
    /// In milliseconds since 1970.
    let at: Int64
    let type: String
    let token: String?
    /// Number of deliveries.
    let copies: Int
    /// Number of attempts for all copies.
    var tries = 0
    var acknowledged = 0
    /// nil before the first answer.
    var lastStatus: Int?
    let lost: Bool
    let forged: Bool

    private enum CodingKeys: String, CodingKey {
        case messageId, at, type, token, copies, tries, delivered, lastStatus, lost, forged
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(messageId, forKey: .messageId)
        try container.encode(at, forKey: .at)
        try container.encode(type, forKey: .type)
        try container.encodeIfPresent(token, forKey: .token)
        try container.encode(copies, forKey: .copies)
        try container.encode(tries, forKey: .tries)
        try container.encodeIfPresent(lastStatus, forKey: .lastStatus)
        // True once every copy is acknowledged.
        try container.encode(acknowledged == copies, forKey: .delivered)
        try container.encode(lost, forKey: .lost)
        try container.encode(forged, forKey: .forged)
    }
}
