public import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A JSON answer read without assumptions: a field of the wrong type reads as missing.
public enum JSONValue: Sendable, Equatable, Decodable {
    case null
    case flag(Bool)
    /// Decimal digits, so that a 64-bit integer keeps all of its digits.
    case number(String)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    /// Values nested deeper read as null.
    private static let maxDepth = 12
    private static let maxTextBytes = 8_192

    /// Nil if the body is not JSON.
    public init?(_ body: ByteBuffer?) {
        guard let body, body.readableBytes > 0,
            let value = try? JSONDecoder().decode(JSONValue.self, from: Data(body.readableBytesView))
        else { return nil }
        self = value
    }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if decoder.codingPath.count > Self.maxDepth || value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            // The most frequent types come first: each failed attempt creates an error with a text.
            self = .text(text)
        } else if let members = try? value.decode([String: JSONValue].self) {
            self = .object(members)
        } else if let number = try? value.decode(Int64.self) {
            self = .number(String(number))
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number.description)
        } else {
            self = .list(try value.decode([JSONValue].self))
        }
    }

    /// Nil if the field is missing or null.
    public subscript(_ key: String) -> JSONValue? {
        guard case .object(let members) = self, let value = members[key], value != .null else { return nil }
        return value
    }

    /// Text of any length.
    public var string: String? { if case .text(let text) = self { text } else { nil } }

    /// Text that is not empty, and not longer than a name, token or date can be.
    public var text: String? { string.flatMap { (1...Self.maxTextBytes).contains($0.utf8.count) ? $0 : nil } }

    /// Text, or a number as text: services send codes and ids as either.
    public var scalarText: String? {
        switch self {
        case .text(let text), .number(let text): text
        default: nil
        }
    }

    /// A whole number, or its text: Google sends 64-bit numbers as text.
    public var integer: Int64? {
        switch self {
        case .number(let number): Int64(number) ?? Double(number).flatMap { Int64(exactly: $0) }
        case .text(let text): Int64(text)
        default: nil
        }
    }

    public var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    public var list: [JSONValue]? { if case .list(let list) = self { list } else { nil } }
    public var isObject: Bool { if case .object = self { true } else { false } }
}
