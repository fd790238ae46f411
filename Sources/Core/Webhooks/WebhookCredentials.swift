import Crypto
import Foundation
public import RelayCore

/// Credentials that prove to a receiver that a message is ours. They always print as `***`.
public struct WebhookCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Sent in the body. Nil: left out.
    let password: String?
    /// Each secret signs, so that a secret can be replaced without a gap.
    let secrets: [SigningSecret]
    /// Whether messages are signed.
    public var signs: Bool { !secrets.isEmpty }
    /// Distinguishes this password from others.
    public let mark: BodyMark

    public init(password: String? = nil, secrets: [SigningSecret] = []) {
        self.password = password
        self.secrets = secrets
        mark = password.map(Self.mark) ?? BodyMark(number: 1 << 16)
    }

    private static func mark(of password: String) -> BodyMark {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("receipt-relay: the body of a message".utf8), using: SymmetricKey(data: Array(password.utf8)))
        let bytes = Array(code.prefix(2))
        return BodyMark(number: Int32(bytes[0]) << 8 | Int32(bytes[1]))
    }

    /// Builds the message for a stored body.
    ///
    /// - Parameter first: the mark of the message's first try.
    public func message(id: some CustomStringConvertible, stored: String, first: BodyMark) -> WebhookMessage {
        // A body without a placeholder for the password is the same with every password.
        return WebhookMessage(
            id: mark.messageID(id, first: WebhookBody.hasPassword(stored) ? first : mark),
            body: WebhookBody.whole(stored, password: password))
    }

    /// A message without content.
    public func testMessage() -> WebhookMessage {
        var generator = SystemRandomNumberGenerator()
        return WebhookMessage(
            id: "test_\(EndpointID(using: &generator))", body: WebhookBody.test(password: password))
    }

    /// The value of `webhook-signature`; nil without secrets.
    func signatures(of message: WebhookMessage, secondsSince1970: Int64) -> String? {
        guard !secrets.isEmpty else { return nil }
        let content = message.signedContent(secondsSince1970: secondsSince1970)
        return secrets.map { $0.signature(of: content) }.joined(separator: " ")
    }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A Standard Webhooks signing secret: `whsec_` and base64. Every way to print it gives `***`.
public struct SigningSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private static let prefix = "whsec_"
    /// Sizes in bytes. Standard Webhooks asks for 24 to 64. Longer secrets do no harm; shorter ones than these can be
    /// guessed.
    private static let sizes = 16...256

    private let key: SymmetricKey

    /// Nil if the text is not such a secret.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            Self.sizes.contains(bytes.count)
        else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// Signature as written in `webhook-signature`: `v1,` and base64 of HMAC-SHA256.
    public func signature(of content: [UInt8]) -> String {
        "v1," + Data(HMAC<SHA256>.authenticationCode(for: content, using: key)).base64EncodedString()
    }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
