import Crypto
import Foundation
public import RelayCore

/// A browser that is signed in at the console.
public struct ConsoleSession: Sendable {
    /// What a cookie holds: 256 random bits in hexadecimal. The database has their digest alone.
    public struct Token: Sendable {
        public let text: String

        /// Nil for what cannot be one.
        public init?(_ text: some StringProtocol) {
            guard text.utf8.count == 64, Hex.bytes(Substring(text)) != nil else { return nil }
            self.text = String(text)
        }

        public init(using generator: inout some RandomNumberGenerator) {
            text = (0..<4).map { _ in Hex.text(of: generator.next() as UInt64) }.joined()
        }

        var digest: [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }

        /// What a form of this session has to bring along, so that no other site can send one. It does not give the token away.
        public var formToken: String {
            Hex.text(of: Array(HMAC<SHA256>.authenticationCode(for: Data("form".utf8), using: key)))
        }

        /// In a time that does not depend on where the two differ.
        public func isFormToken(_ text: String) -> Bool {
            guard let bytes = Hex.bytes(text[...]) else { return false }
            return HMAC<SHA256>.isValidAuthenticationCode(bytes, authenticating: Data("form".utf8), using: key)
        }

        private var key: SymmetricKey { SymmetricKey(data: Data(text.utf8)) }
    }

    /// With whose key it was begun.
    public var key: APIKey
    public var expiresAt: Timestamp
}
