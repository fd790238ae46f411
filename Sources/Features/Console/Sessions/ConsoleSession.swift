import Crypto
import Formats
import Foundation
import Relay
import RelayCore

/// A session of a browser that is signed in at the console.
struct ConsoleSession: Sendable {
    /// The cookie's value: 256 random bits in hexadecimal. The database stores only its digest.
    struct Token: Sendable {
        let text: String

        /// Nil if the text cannot be a token.
        init?(_ text: some StringProtocol) {
            guard text.utf8.count == 64, Hex.bytes(Substring(text)) != nil else { return nil }
            self.text = String(text)
        }

        init(using generator: inout some RandomNumberGenerator) {
            text = (0..<4).map { _ in Hex.text(of: generator.next() as UInt64) }.joined()
        }

        var digest: [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }

        /// Token that each form of this session must send back, so that no other site can forge a form. It does not
        /// reveal the session token.
        var formToken: String {
            Hex.text(of: Array(HMAC<SHA256>.authenticationCode(for: Data("form".utf8), using: key)))
        }

        /// Compares in constant time.
        func isFormToken(_ text: String) -> Bool {
            guard let bytes = Hex.bytes(text[...]) else { return false }
            return HMAC<SHA256>.isValidAuthenticationCode(bytes, authenticating: Data("form".utf8), using: key)
        }

        private var key: SymmetricKey { SymmetricKey(data: Data(text.utf8)) }
    }

    /// API key with which the session was started.
    var key: APIKey
    var expiresAt: Timestamp
}
