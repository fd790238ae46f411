/// Text that names something: a customer, an offer, a transaction. Two are equal only where their UTF-8 bytes are.
///
/// Swift compares strings by canonical equivalence, PostgreSQL by bytes. By the first, `K` and the Kelvin sign (U+212A) are one name,
/// and so are composed and decomposed letters: as keys in memory two customers would become one. So no `String` is the key of a
/// dictionary, a set or a cache that holds names, and none is compared with another.
///
/// - Parameter Kind: what is named. Identifiers of different kinds cannot be mistaken for each other.
public struct Identifier<Kind>: Sendable {
    public let text: String

    @inlinable
    public init(_ text: String) {
        self.text = text
    }

    @inlinable
    public init(_ text: Substring) {
        self.text = String(text)
    }

    /// Nil for nil.
    @inlinable
    public init?(_ text: String?) {
        guard let text else { return nil }
        self.init(text)
    }

    @inlinable
    public var utf8: String.UTF8View { text.utf8 }

    @inlinable
    public var isEmpty: Bool { text.isEmpty }
}

extension Identifier: Hashable {
    @inlinable
    public static func == (left: Identifier, right: Identifier) -> Bool {
        TextBytes.areEqual(left.text, right.text)
    }

    @inlinable
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // Ends the name, so that of two in a row the border counts.
        hasher.combine(0xff as UInt8)
    }
}

extension Identifier: Comparable {
    /// As PostgreSQL's collation `C` orders them.
    @inlinable
    public static func < (left: Identifier, right: Identifier) -> Bool {
        TextBytes.compare(left.text, right.text) < 0
    }
}

extension Identifier: CustomStringConvertible {
    public var description: String { text }
}

extension Identifier: ExpressibleByStringInterpolation {
    @inlinable
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension Identifier: LosslessStringConvertible {}

/// The bare text, also as the key of an object.
extension Identifier: Codable, CodingKeyRepresentable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public var codingKey: any CodingKey { Key(stringValue: text) }

    public init?(codingKey: some CodingKey) {
        self.init(codingKey.stringValue)
    }
}
