import Foundation
import SimulatorKit

/// What is wrong with a message on purpose.
enum SNSForgery: String, Sendable, Codable {
    /// No `Signature` at all.
    case missing = "none"
    /// Signed by another key than that of the certificate.
    case signature
    /// Another account's topic, correctly signed.
    case topic
    /// `SigningCertURL` is at another host.
    case certificate
    /// `Message` is another than the signed one.
    case tampered
}

/// Content of a message of SNS.
struct SNSContent: Sendable {
    enum Payload: Sendable {
        /// The `Message`.
        case notification(String)
        /// - Parameter address: where the simulator is reached.
        case confirmation(token: String, address: String)
        /// In place of the whole body.
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
        // Only the headers of a notification are used.
        case .raw: fields["Type"] = "Notification"
        }
        guard forgery != .missing else { return }
        fields["Signature"] = try key.signature(
            of: signedText, settings.signatureVersion, isForged: forgery == .signature
        ).base64EncodedString()
        if forgery == .tampered { fields["Message", default: ""] += " " }
    }

    /// The fields that both kinds of messages have, or one of them, in the order in which SNS signs them.
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
