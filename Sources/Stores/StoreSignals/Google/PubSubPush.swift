import Formats

/// A wrapped push message of Google Pub/Sub (source: Pub/Sub, "Receive push messages"). Unwrapped data is rejected.
struct PubSubPush: Decodable {
    /// The same in all deliveries of a message, unique within its topic.
    var messageID: String
    var subscription: String
    var data: [UInt8]

    private enum Key: CodingKey { case message, subscription }
    private enum MessageKey: String, CodingKey {
        case data, messageId
        case oldMessageID = "message_id"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let message = try fields.nestedContainer(keyedBy: MessageKey.self, forKey: .message)
        guard let id = message.text(.messageId) ?? message.text(.oldMessageID) else {
            throw DecodingError.valueNotFound(String.self, .init(codingPath: [], debugDescription: "messageId"))
        }
        messageID = id
        subscription = fields.text(.subscription) ?? ""
        let text = try message.decodeIfPresent(String.self, forKey: .data) ?? ""
        guard let bytes = Base64.decode(text.utf8, .lenient) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "data"))
        }
        data = bytes
    }
}
