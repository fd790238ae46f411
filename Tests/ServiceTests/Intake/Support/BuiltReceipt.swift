import Foundation

/// An app receipt in StoreKit 1's DER form without a signature: just enough to be read.
struct BuiltReceipt: Sendable {
    struct Subscription: Sendable {
        var product: String
        var transaction: String
        var original: String
        /// Time in the form of receipts: `2030-01-01T00:00:00Z`.
        var expires: String
    }

    var subscriptions: [Subscription]
    var bundle = "com.example.app"
    /// Size of an opaque value in attribute 4, which makes the receipt larger without other changes.
    var padding = 0

    var base64: String { Data(der).base64EncodedString() }

    var der: [UInt8] {
        let payload = Self.set(
            [
                attribute(0, Self.utf8("ProductionSandbox")), attribute(2, Self.utf8(bundle)),
                attribute(4, [UInt8](repeating: 0xa7, count: padding)),
            ] + subscriptions.map { attribute(17, inApp($0)) })
        let data: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
        let signedData: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
        let content = Self.sequence([Self.element(0x06, data), Self.element(0xa0, Self.octets(payload))])
        let body = Self.sequence([Self.integer(1), Self.set([]), content, Self.set([])])
        return Self.sequence([Self.element(0x06, signedData), Self.element(0xa0, body)])
    }

    private func inApp(_ subscription: Subscription) -> [UInt8] {
        Self.set([
            attribute(1701, Self.integer(1)), attribute(1702, Self.utf8(subscription.product)),
            attribute(1703, Self.utf8(subscription.transaction)), attribute(1705, Self.utf8(subscription.original)),
            attribute(1704, Self.ia5("2026-01-01T00:00:00Z")), attribute(1706, Self.ia5("2026-01-01T00:00:00Z")),
            attribute(1708, Self.ia5(subscription.expires)),
        ])
    }

    private func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        Self.sequence([Self.integer(type), Self.integer(1), Self.octets(value)])
    }

    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        if contents.count < 0x80 { return [tag, UInt8(contents.count)] + contents }
        var length: [UInt8] = []
        var rest = contents.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xff), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + contents
    }

    private static func integer(_ number: Int) -> [UInt8] {
        // A leading zero byte keeps the number positive.
        element(0x02, number < 0x80 ? [UInt8(number)] : [0, UInt8(number >> 8 & 0xff), UInt8(number & 0xff)])
    }

    private static func sequence(_ parts: [[UInt8]]) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }
    private static func set(_ parts: [[UInt8]]) -> [UInt8] { element(0x31, parts.flatMap { $0 }) }
    private static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }
    private static func utf8(_ text: String) -> [UInt8] { element(0x0c, Array(text.utf8)) }
    private static func ia5(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }
}
