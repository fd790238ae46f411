import Crypto
import Foundation
import RelayCore

/// A key as the database knows it: everything but the secret.
public struct APIKey: Sendable, Equatable {
    public var id: String
    public var publisher: String
    public var role: KeyRole
    /// A bundle id, or empty.
    public var app: String
    public var name: String
    var digest: [UInt8]
    public var createdAt: Timestamp
    public var revokedAt: Timestamp?

    /// `rr_ROLE_ID_SECRET`: the id finds the row, the secret (256 random bits) is compared by its SHA-256.
    public static func make(role: KeyRole, using generator: inout some RandomNumberGenerator) -> (
        id: String, key: String
    ) {
        func hex(_ words: Int) -> String {
            (0..<words).map { _ in
                let text = String(generator.next() as UInt64, radix: 16)
                return String(repeating: "0", count: 16 - text.utf8.count) + text
            }.joined()
        }
        let id = hex(1)
        return (id, "rr_\(role.name)_\(id)_\(hex(4))")
    }

    /// The id in a key's text, and the digest of the text. Nil for what cannot be a key.
    static func parse(_ key: some StringProtocol) -> (id: String, digest: [UInt8])? {
        guard key.utf8.count <= 128 else { return nil }
        let parts = key.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "rr", parts[2].utf8.count == 16, parts[3].utf8.count == 64 else {
            return nil
        }
        return (String(parts[2]), digest(of: key))
    }

    static func digest(of key: some StringProtocol) -> [UInt8] {
        Array(SHA256.hash(data: Data(key.utf8)))
    }

    /// In a time that does not depend on where the two differ.
    func matches(_ other: [UInt8]) -> Bool {
        guard digest.count == other.count else { return false }
        return zip(digest, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
