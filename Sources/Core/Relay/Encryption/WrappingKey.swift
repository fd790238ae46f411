import Crypto
import Foundation
import RelayCore

/// A configured key, which only unwraps the data keys stored in the database.
public struct WrappingKey: Sendable {
    /// Non-secret key identifier, eight hex digits.
    public let id: String
    private let key: SymmetricKey

    /// - Parameter text: 32 bytes in Base64. Nil for any other text.
    public init?(base64 text: String) {
        guard let data = Data(base64Encoded: text), data.count == 32 else { return nil }
        self.init(key: SymmetricKey(data: data))
    }

    init(key: SymmetricKey) {
        self.key = key
        let digest = HMAC<SHA256>.authenticationCode(for: Array("receipt-relay wrapping key".utf8), using: key)
        id = digest.prefix(4).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// A new random key, in the form for ``init(base64:)``.
    public static func make() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() }
    }

    func wrap(_ key: SymmetricKey, number: Int32) throws -> [UInt8] {
        let data = key.withUnsafeBytes { Data($0) }
        let box = try AES.GCM.seal(data, using: self.key, authenticating: Self.purpose(number))
        guard let combined = box.combined else { throw VaultError.cannotWrap }
        return Array(combined)
    }

    func unwrap(_ wrapped: [UInt8], number: Int32) throws -> SymmetricKey {
        let data = try AES.GCM.open(
            AES.GCM.SealedBox(combined: wrapped), using: key, authenticating: Self.purpose(number))
        return SymmetricKey(data: data)
    }

    /// Authenticated with the wrapped key, so that a data key cannot be exchanged for another.
    private static func purpose(_ number: Int32) -> [UInt8] { Array("data key \(number)".utf8) }
}
