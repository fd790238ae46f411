import Crypto
import Foundation

/// Where Cleeng's events go, and how they are signed. Cleeng's public documentation names neither the header nor the
/// encoding, so both can be chosen.
struct WebhookTarget: Sendable, Equatable {
    enum Encoding: String, Sendable, CaseIterable {
        case hex, base64
    }

    static let standardHeader = "X-Cleeng-Signature"

    let url: String
    /// Never shown.
    private let secret: String
    let signatureHeader: String
    let signatureEncoding: Encoding
    /// Whether the beginning and the end of a subscription also name the customer's email.
    let withEmail: Bool

    init(
        url: String, secret: String, signatureHeader: String = standardHeader, signatureEncoding: Encoding = .hex,
        withEmail: Bool = false
    ) throws(ControlFault) {
        guard let parts = URLComponents(string: url), ["http", "https"].contains(parts.scheme ?? ""),
            let host = parts.host, !host.isEmpty, url.utf8.count <= 2_000
        else { throw .invalid("the url of webhooks is that of an HTTP server, such as http://127.0.0.1:8080/webhooks") }
        // Cleeng's own lower bound.
        guard (16...1_024).contains(secret.utf8.count) else {
            throw .invalid("the secret of webhooks has at least 16 bytes")
        }
        guard (1...100).contains(signatureHeader.utf8.count),
            signatureHeader.allSatisfy({ $0 == "-" || ($0.isASCII && ($0.isLetter || $0.isNumber)) })
        else { throw .invalid("the signature header of webhooks is the name of a header field") }
        self.url = url
        self.secret = secret
        self.signatureHeader = signatureHeader
        self.signatureEncoding = signatureEncoding
        self.withEmail = withEmail
    }

    /// HMAC-SHA256 over the body, byte for byte.
    func signature(of body: [UInt8]) -> String {
        let key = SymmetricKey(data: Data(secret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: body, using: key)
        return switch signatureEncoding {
        case .hex: HexDigest.text(of: code)
        case .base64: Data(code).base64EncodedString()
        }
    }
}
