import Formats
import RelayCore

/// Id of an order, a contract, a customer or an external subscription: 24 hexadecimal digits in lower case.
///
/// | bytes | hold |
/// | --- | --- |
/// | 1-4 | second of creation, so that ids sort roughly by time (external subscription: digest) |
/// | 5-12 | random bits (external subscription: digest); the last byte is the bucket |
struct BillingID: Hashable, Comparable, Sendable, CustomStringConvertible {
    let description: String

    /// Nil unless exactly 24 hexadecimal digits, in either case.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count == 24, let bytes = Hex.bytes(Substring(text)) else { return nil }
        self.init(bytes: bytes)
    }

    /// A new id. Ids of the same second are not ordered.
    init(at moment: Timestamp, using generator: inout some RandomNumberGenerator) {
        let second = UInt32(truncatingIfNeeded: moment.secondsSince1970)
        description = Hex.text(of: UInt64(second)).suffix(8) + Hex.text(of: generator.next())
    }

    /// The same id for the same thing every time.
    ///
    /// - Parameter digest: digest of the named thing. The first twelve bytes are used, and missing ones are zero.
    init(digest: some Collection<UInt8>) {
        self.init(bytes: digest.prefix(12) + Array(repeating: 0, count: max(0, 12 - digest.count)))
    }

    private init(bytes: [UInt8]) {
        description = Hex.text(of: bytes)
    }

    /// Bucket of the row, so that the id alone finds it.
    var bucket: Bucket {
        Bucket(number: UInt8(description.suffix(2), radix: 16) ?? 0)
    }

    /// Second of creation. Meaningless for an external subscription.
    var madeAt: Timestamp {
        Timestamp(seconds: Int64(description.prefix(8), radix: 16) ?? 0)
    }

    static func < (left: BillingID, right: BillingID) -> Bool { left.description < right.description }
}
