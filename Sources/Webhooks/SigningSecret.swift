import Crypto
import Foundation

/// A secret that messages are signed with, as Standard Webhooks writes them: `whsec_` and base64. Every way to print it gives `***`.
public struct SigningSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private static let prefix = "whsec_"
    /// Bytes. Standard Webhooks asks for 24 to 64; longer ones do no harm, and shorter ones than these can be guessed.
    private static let sizes = 16...256

    private let key: SymmetricKey

    /// Nil where it is none.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            Self.sizes.contains(bytes.count)
        else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// As it stands in `webhook-signature`: `v1,` and base64 of HMAC-SHA256.
    public func signature(of content: [UInt8]) -> String {
        "v1," + Data(HMAC<SHA256>.authenticationCode(for: content, using: key)).base64EncodedString()
    }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
