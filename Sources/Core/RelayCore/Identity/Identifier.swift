/// A name of a customer, an offer, a transaction and so on. Two are equal only if their UTF-8 bytes are.
///
/// Swift compares strings by canonical equivalence, PostgreSQL by bytes. For Swift, `K` and the Kelvin sign (U+212A)
/// are one name, and so are composed and decomposed letters. As keys in memory, two customers would become one. Names
/// are therefore never compared as `String`, and a `String` is never the key of a dictionary, set or cache of names.
///
/// - Parameter Kind: kind of the named thing. Identifiers of different kinds cannot be mixed up.
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
        // Terminates the name, so that two names in a row hash differently from the same bytes divided elsewhere.
        hasher.combine(0xff as UInt8)
    }
}

extension Identifier: Comparable {
    /// Compares as PostgreSQL's collation `C` does.
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

/// Codes as bare text, also as the key of an object.
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
