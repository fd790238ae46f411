import Foundation
import SimulatorKit

/// Deliberate defect of a message.
enum SNSForgery: String, Sendable, Codable {
    /// No `Signature`.
    case missing = "none"
    /// Signed by a key other than the certificate's.
    case signature
    /// Topic of another account, correctly signed.
    case topic
    /// `SigningCertURL` on another host.
    case certificate
    /// `Message` changed after signing.
    case tampered
}

/// Content of an SNS message.
struct SNSContent: Sendable {
    enum Payload: Sendable {
        /// The `Message` field.
        case notification(String)
        /// - Parameter address: address of the simulator.
        case confirmation(token: String, address: String)
        /// Replaces the whole body.
        case raw(Data)
    }

    let payload: Payload
    var forgery: SNSForgery?
}

/// A message as SNS posts it to an HTTP server.
struct SNSEnvelope: Sendable {
    private(set) var fields: [String: String]

    private static let timestamp = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    init(_ message: PushMessage<SNSContent>, _ settings: SNSSettings, _ key: SNSKey) throws {
        let forgery = message.content.forgery
        let topic = forgery == .topic ? settings.foreignTopic : settings.topic
        let host = forgery == .certificate ? "\(settings.host).example.com" : settings.host
        fields = [
            "MessageId": message.id, "TopicArn": topic, "SignatureVersion": settings.signatureVersion.rawValue,
            "Timestamp": message.publishedAt.formatted(Self.timestamp),
            "SigningCertURL": "https://\(host)/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem",
        ]
        switch message.content.payload {
        case .notification(let text):
            fields["Type"] = "Notification"
            fields["Message"] = text
            fields["UnsubscribeURL"] =
                "https://\(settings.host)/?Action=Unsubscribe&SubscriptionArn=\(settings.subscriptionARN)"
        case .confirmation(let token, let address):
            fields["Type"] = "SubscriptionConfirmation"
            fields["Message"] =
                "You have chosen to subscribe to the topic \(topic).\n"
                + "To confirm the subscription, visit the SubscribeURL included in this message."
            fields["Token"] = token
            fields["SubscribeURL"] =
                "\(address)/sns/confirm?Action=ConfirmSubscription&TopicArn=\(topic)&Token=\(token)"
        // Only the headers for a notification are used.
        case .raw: fields["Type"] = "Notification"
        }
        guard forgery != .missing else { return }
        fields["Signature"] = try key.signature(
            of: signedText, settings.signatureVersion, isForged: forgery == .signature
        ).base64EncodedString()
        if forgery == .tampered { fields["Message", default: ""] += " " }
    }

    /// Signed fields of both kinds of messages, in SNS's signing order. A kind may lack some.
    private static let signedFields = [
        "Message", "MessageId", "SubscribeURL", "Subject", "Timestamp", "Token", "TopicArn", "Type",
    ]

    private var signedText: String {
        Self.signedFields.map { name in fields[name].map { "\(name)\n\($0)\n" } ?? "" }.joined()
    }
}

extension SimulatedSNS {
    static func request(_ attempt: Attempt, at now: Date) throws -> PushRequest {
        let (message, settings) = (attempt.delivery.message, attempt.settings)
        let envelope = try SNSEnvelope(message, settings, attempt.key)
        var headers = [
            NamedValue(name: "Content-Type", value: "text/plain; charset=UTF-8"),
            NamedValue(name: "User-Agent", value: "Amazon Simple Notification Service Agent"),
            NamedValue(name: "x-amz-sns-message-id", value: message.id),
            NamedValue(name: "x-amz-sns-message-type", value: envelope.fields["Type"] ?? ""),
            NamedValue(name: "x-amz-sns-topic-arn", value: envelope.fields["TopicArn"] ?? ""),
        ]
        if !attempt.delivery.isHandshake {
            headers.append(NamedValue(name: "x-amz-sns-subscription-arn", value: settings.subscriptionARN))
        }
        let body: Data
        if case .raw(let raw) = message.content.payload { body = raw } else { body = JSONBody.encode(envelope.fields) }
        return PushRequest(url: settings.url, headers: headers, body: body)
    }
}
