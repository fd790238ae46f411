import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// JSON whose shape nobody promised. Deeper than error bodies ever are, it is not looked into.
enum JSONValue: Sendable, Equatable, Decodable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    private static let maximumDepth = 8

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if decoder.codingPath.count > Self.maximumDepth || value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let number = try? value.decode(Int64.self) {
            self = .number(String(number))
        } else if let number = try? value.decode(Double.self) {
            self = .number(number.description)
        } else if let flag = try? value.decode(Bool.self) {
            self = .bool(flag)
        } else if let elements = try? value.decode([JSONValue].self) {
            self = .array(elements)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }

    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }

    /// Nil for what is no JSON.
    init?(_ body: ByteBuffer?) {
        guard let body, body.readableBytes > 0,
            let value = try? JSONDecoder().decode(JSONValue.self, from: Data(body.readableBytesView))
        else { return nil }
        self = value
    }

    subscript(_ key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// Text, or a number as text: error codes come as both.
    var scalarText: String? {
        switch self {
        case .string(let text), .number(let text): text
        default: nil
        }
    }

    var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    var isObject: Bool {
        guard case .object = self else { return false }
        return true
    }
}
