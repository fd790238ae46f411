import Crypto
import Formats
import Foundation

/// Cleeng's event signature: HMAC-SHA256 over the body, with a shared secret. Cleeng's public documentation does not
/// state the header and its encoding, so both are configurable.
public struct EventSignature: Sendable {
    public enum Encoding: String, Sendable, CaseIterable {
        case hex, base64
    }

    private let key: SymmetricKey
    let header: String
    private let encoding: Encoding

    public init(secret: String, header: String, encoding: Encoding) {
        key = SymmetricKey(data: Data(secret.utf8))
        self.header = header
        self.encoding = encoding
    }

    /// - Parameter text: value of the header; a leading `sha256=` is ignored.
    func isValid(_ text: String, over body: [UInt8]) -> Bool {
        let text = text.hasBytes(first: "sha256=") ? String(text.droppingBytes(first: "sha256=".utf8.count)) : text
        guard text.utf8.count <= 128, let code = bytes(of: text) else { return false }
        // Compares in constant time.
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: body, using: key)
    }

    private func bytes(of text: String) -> [UInt8]? {
        switch encoding {
        case .hex: Hex.bytes(text[...])
        case .base64: Data(base64Encoded: text).map { Array($0) }
        }
    }
}
