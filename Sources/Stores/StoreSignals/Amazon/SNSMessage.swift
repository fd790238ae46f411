import Formats
public import RelayCore

/// An unverified message as Amazon SNS posts it to an endpoint (source: Amazon SNS Developer Guide, "Parsing message
/// formats").
public struct SNSMessage: Sendable {
    /// Values of `Type`, as SNS writes them.
    public enum Kind: String, Sendable {
        case notification = "Notification"
        /// A request to confirm this endpoint's subscription to a topic.
        case subscription = "SubscriptionConfirmation"
        /// The subscription has ended.
        case unsubscription = "UnsubscribeConfirmation"
    }

    public enum SignatureVersion: String, Sendable {
        case sha1 = "1"
        case sha256 = "2"
    }

    public let kind: Kind
    /// The same in every delivery of the message.
    public let id: String
    public let topic: SNSTopic
    public let saidAt: Timestamp
    /// The published text; in a confirmation, an explanation for people.
    public let text: String
    /// Token of a confirmation message. Sending it back to SNS confirms the subscription.
    public let token: String?
    /// Nil for an unknown version.
    public let signatureVersion: SignatureVersion?
    /// Claimed address of the signer's certificate.
    public let certificateURL: String
    let signature: [UInt8]
    /// The text that the signature covers.
    let signedText: String

    /// - Throws: ``SignalError``.
    public init(body: [UInt8]) throws(SignalError) {
        let fields: Fields
        do { fields = try SignalText.decode(Fields.self, from: body) } catch {
            throw (try? SignalText.decode(AnyJSON.self, from: body)) == nil
                ? SignalError(.notJSON, "the body is not JSON") : Self.malformed("its members are not texts")
        }
        guard let kind = fields.type.flatMap(Kind.init), let id = Self.line(fields.messageID),
            let text = fields.message,
            let timestamp = Self.line(fields.timestamp)
        else { throw Self.malformed("Type, MessageId, Message or Timestamp is missing") }
        guard let topic = fields.topicARN.flatMap(SNSTopic.init) else { throw Self.malformed("TopicArn is none") }
        guard let saidAt = Timestamp(external: timestamp) else { throw Self.malformed("Timestamp is no time") }
        (self.kind, self.id, self.topic, self.saidAt, self.text) = (kind, id, topic, saidAt, text)
        token = Self.line(fields.token)
        signatureVersion = fields.signatureVersion.flatMap(SignatureVersion.init)
        certificateURL = fields.certificateURL ?? ""
        signature = fields.signature.flatMap { Base64.decode($0.utf8, .lenient) } ?? []
        var signed = [("Message", text), ("MessageId", id)]
        switch kind {
        case .notification:
            if let subject = fields.subject {
                guard let line = Self.line(subject) else { throw Self.malformed("Subject is none") }
                signed.append(("Subject", line))
            }
        case .subscription, .unsubscription:
            guard let url = Self.line(fields.subscribeURL), let token else {
                throw Self.malformed("a confirmation has SubscribeURL and Token")
            }
            signed += [("SubscribeURL", url), ("Token", token)]
        }
        signed += [("Timestamp", timestamp), ("TopicArn", topic.description), ("Type", kind.rawValue)]
        // Sorted by name, each name and each value on a line of its own.
        signedText = signed.sorted { $0.0 < $1.0 }.map { "\($0)\n\($1)\n" }.joined()
    }

    private static func malformed(_ detail: String) -> SignalError {
        SignalError(.notANotification, "it is no message of SNS: \(detail)")
    }

    /// Every field but the message must be one line. With line breaks in a field, one signature could match two
    /// different messages.
    private static func line(_ value: String?) -> String? { value.flatMap(SignalText.text) }

    private struct Fields: Decodable {
        var type: String?
        var messageID: String?
        var topicARN: String?
        var subject: String?
        var message: String?
        var timestamp: String?
        var signature: String?
        var signatureVersion: String?
        var certificateURL: String?
        var token: String?
        var subscribeURL: String?

        private enum CodingKeys: String, CodingKey {
            case type = "Type"
            case messageID = "MessageId"
            case topicARN = "TopicArn"
            case subject = "Subject"
            case message = "Message"
            case timestamp = "Timestamp"
            case signature = "Signature"
            case signatureVersion = "SignatureVersion"
            case certificateURL = "SigningCertURL"
            case token = "Token"
            case subscribeURL = "SubscribeURL"
        }
    }
}
