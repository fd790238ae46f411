import Crypto
import RelayCore

/// A publisher's UUID for a customer at a store: Apple's `appAccountToken`, Google's `obfuscatedExternalAccountId`.
public struct AccountToken: Hashable, Sendable {
    /// 16 bytes.
    private let bytes: [UInt8]

    /// RFC 9562 section 6.6.
    private static let urls = AccountToken("6ba7b811-9dad-11d1-80b4-00c04fd430c8")

    /// Nil unless the text is a UUID: 32 hexadecimal digits in five groups, in either case.
    public init?(_ text: String) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12], let bytes = Self.bytes(groups.joined()) else { return nil }
        self.bytes = bytes
    }

    private static func bytes(_ digits: String) -> [UInt8]? {
        let values = digits.utf8.map { UInt8(hexadecimal: $0) }
        guard !values.contains(nil) else { return nil }
        let known = values.compactMap(\.self)
        return stride(from: 0, to: known.count, by: 2).map { known[$0] << 4 | known[$0 + 1] }
    }

    /// Makes a UUID of version 5 (RFC 9562 section 5.5).
    public init(_ name: String, in namespace: AccountToken) {
        var hash = Insecure.SHA1()
        hash.update(data: namespace.bytes)
        hash.update(data: Array(name.utf8))
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x50
        bytes[8] = bytes[8] & 0x3f | 0x80
        self.bytes = bytes
    }

    /// The namespace of customers' UUIDs, for publishers that set no other.
    static func namespace(of publisher: PublisherID) -> AccountToken? {
        urls.map { AccountToken(publisher.text, in: $0) }
    }
}

extension UInt8 {
    fileprivate init?(hexadecimal digit: UInt8) {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self = digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self = digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self = digit - UInt8(ascii: "A") + 10
        default: return nil
        }
    }
}
