import Formats
import NIOCore
import OutboundHTTP
import RelayCore
public import StoreSignals
public import Webhooks

/// Client that fetches SNS certificates and confirms subscriptions.
public struct SNSClient: Sendable {
    private static let timeout = Duration.seconds(5)
    private static let maxAnswerBytes = 64 << 10

    private let client: GuardedClient
    private let url: String?

    /// - Parameter url: address of SNS; nil: the topic's region.
    public init(client: GuardedClient, url: String?) {
        self.client = client
        self.url = url
    }

    /// - Throws: why the certificate is not available.
    public func certificate(at address: SNSCertificateAddress) async throws -> SNSCertificate {
        let reply = try await get(address.url, route: "sns certificate")
        guard reply.status == 200, let body = reply.wholeBody else {
            throw SNSTrouble(description: "the answer is HTTP \(reply.status)")
        }
        return try SNSCertificate(pem: String(buffer: body))
    }

    /// Confirms the subscription of a confirmation message (source: Amazon SNS API Reference, `ConfirmSubscription`).
    public func confirm(_ message: SNSMessage) async -> TopicConfirmation {
        guard let token = message.token else { return .refused("the message has no token") }
        let query =
            "Action=ConfirmSubscription&TopicArn=\(message.topic.description.percentEncoded)&Token=\(token.percentEncoded)"
        let reply: HTTPReply
        do { reply = try await get("\(url ?? "https://\(message.topic.host)/")?\(query)", route: "sns confirm") } catch
        {
            return .away("\(error)")
        }
        switch reply.status {
        case 200..<300: return .confirmed
        case 408, 425, 429: return .away("HTTP \(reply.status)")
        case 400..<500: return .refused("HTTP \(reply.status)")
        default: return .away("HTTP \(reply.status)")
        }
    }

    private func get(_ text: String, route: String) async throws(WebhookTrouble) -> HTTPReply {
        guard let url = WebhookURL(text) else { throw WebhookTrouble.url }
        return try await client.send(
            OutboundRequest(url: text), to: url, for: .first, route: route, by: .now + Self.timeout,
            atMost: Self.maxAnswerBytes)
    }
}

private struct SNSTrouble: Error, CustomStringConvertible {
    let description: String
}
