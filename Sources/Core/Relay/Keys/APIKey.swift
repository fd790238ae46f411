import Crypto
import Formats
import Foundation
public import RelayCore

/// An API key as stored: everything except the secret.
public struct APIKey: Sendable, Equatable {
    public var id: APIKeyID
    public var publisher: PublisherID
    /// Ops keys only: created for all publishers. Actions with such a key still name a publisher.
    public var seesAllPublishers = false
    public var role: KeyRole
    /// A bundle id, or empty.
    public var app: BundleID
    public var name: String
    var digest: [UInt8]
    /// Digest of the access token that was issued for this key; nil if none was.
    var tokenDigest: [UInt8]?
    public var createdAt: Timestamp
    public var revokedAt: Timestamp?

    /// Name of the acting key in timelines and in the audit log.
    public var actor: String { "\(name) (\(id))" }

    /// `rr_ROLE_ID_SECRET`: the id finds the row; the secret (256 random bits) is compared by its SHA-256.
    public static func make(role: KeyRole, using generator: inout some RandomNumberGenerator) -> (
        id: APIKeyID, key: String
    ) {
        func hex(_ words: Int) -> String {
            (0..<words).map { _ in Hex.text(of: generator.next() as UInt64) }.joined()
        }
        let id = APIKeyID(hex(1))
        return (id, "rr_\(role.name)_\(id)_\(hex(4))")
    }

    /// The part of a key's text that may be shown. Nil if the text cannot be a key.
    public static func id(in key: String) -> APIKeyID? { parse(key[...])?.id }

    /// The id in a key's text, and the digest of the text. Nil if the text cannot be a key.
    static func parse(_ key: Substring) -> (id: APIKeyID, digest: [UInt8])? {
        var key = key
        return key.withUTF8 { text -> (id: APIKeyID, digest: [UInt8])? in
            let underscore = UInt8(ascii: "_")
            let (secret, id) = (text.count - 64, text.count - 81)
            guard text.count <= 128, id >= 5, text.starts(with: "rr_".utf8), text[secret - 1] == underscore,
                text[id - 1] == underscore, !text[3..<id - 1].contains(underscore),
                !text[id..<secret - 1].contains(underscore), !text[secret...].contains(underscore)
            else { return nil }
            let name = String(decoding: text[id..<secret - 1], as: UTF8.self)
            var hash = SHA256()
            hash.update(bufferPointer: UnsafeRawBufferPointer(text))
            return (APIKeyID(name), Array(hash.finalize()))
        }
    }

    /// Whether a key could have this id: 16 hex digits.
    static func isID(_ id: APIKeyID) -> Bool {
        id.text.utf8.count == 16
            && id.text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    static func digest(of key: String) -> [UInt8] {
        Array(SHA256.hash(data: Data(key.utf8)))
    }

    /// Compares in constant time.
    func matches(_ other: [UInt8]) -> Bool { Self.areEqual(digest, other) }

    func matchesToken(_ other: [UInt8]) -> Bool { tokenDigest.map { Self.areEqual($0, other) } ?? false }

    private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
