import Foundation
import SimulatorKit

/// Content of a Pub/Sub message.
struct PubSubContent: Sendable {
    enum Payload: Sendable {
        case notification(Data)
        /// Replaces the whole body.
        case raw(Data)
    }

    let payload: Payload
    var forgery: PushTokenForgery?
}

extension PushMessage<PubSubContent> {
    /// Body of the push.
    func body(_ subscription: String) -> Data {
        switch content.payload {
        case .raw(let body): body
        case .notification(let json):
            JSONBody.encode(
                PubSubEnvelope(
                    message: PubSubEnvelope.Message(
                        data: json.base64EncodedString(), id: id, publishTime: publishedAt),
                    subscription: subscription),
                dates: .text)
        }
    }
}

/// Pub/Sub writes the id and the time in both spellings.
private struct PubSubEnvelope: Encodable {
    struct Message: Encodable {
        let data: String
        let id: String
        let publishTime: Date

        private enum CodingKeys: String, CodingKey {
            case attributes, data, messageId, publishTime
            case messageID = "message_id"
            case publishedAt = "publish_time"
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode([String: String](), forKey: .attributes)
            try container.encode(data, forKey: .data)
            for key in [CodingKeys.messageId, .messageID] { try container.encode(id, forKey: key) }
            for key in [CodingKeys.publishTime, .publishedAt] { try container.encode(publishTime, forKey: key) }
        }
    }

    let message: Message
    let subscription: String
}
