import Foundation
import SimulatorKit

/// Any JSON value; for bodies whose unknown fields matter too.
enum AnyJSON: Sendable, Equatable, Codable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([AnyJSON])
    case object([String: AnyJSON])

    init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        // Strings first: nearly all values in the relevant calls are strings, and a failed attempt is costly.
        if let value = try? single.decode(String.self) {
            self = .string(value)
        } else if single.decodeNil() {
            self = .null
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? single.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? single.decode(Double.self) {
            self = .double(value)
        } else if let value = try? single.decode([String: AnyJSON].self) {
            self = .object(value)
        } else {
            self = .array(try single.decode([AnyJSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        switch self {
        case .null: try single.encodeNil()
        case .bool(let value): try single.encode(value)
        case .int(let value): try single.encode(value)
        case .double(let value): try single.encode(value)
        case .string(let value): try single.encode(value)
        case .array(let value): try single.encode(value)
        case .object(let value): try single.encode(value)
        }
    }

    /// - Returns: nil if the bytes are not JSON.
    static func parse(_ bytes: some Sequence<UInt8>) -> AnyJSON? {
        try? JSONDecoder().decode(AnyJSON.self, from: Data(bytes))
    }

    /// The text of a value, with keys in alphabetical order.
    static func bytes(of value: some Encodable) -> [UInt8] { Array(JSONBody.encode(value)) }

    subscript(key: String) -> AnyJSON? {
        if case .object(let fields) = self { fields[key] } else { nil }
    }

    var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    var integer: Int64? {
        if case .int(let value) = self { value } else { nil }
    }

    var isNull: Bool { self == .null }
}

extension AnyJSON {
    static func optional(_ text: String?) -> AnyJSON { text.map(AnyJSON.string) ?? .null }
    static func optional(_ number: Int64?) -> AnyJSON { number.map(AnyJSON.int) ?? .null }
}

/// Values in the App Store's formats.
extension AnyJSON {
    /// A time in milliseconds since 1970, as a number or as text.
    var milliseconds: SimulatedTime? {
        let number: Int64? =
            switch self {
            case .int(let number): number
            case .double(let number): Int64(exactly: number.rounded(.down))
            case .string(let text): Int64(text)
            case .null, .bool, .array, .object: nil
            }
        return number.flatMap { (0...253_402_300_799_999).contains($0) ? SimulatedTime(microseconds: $0 * 1_000) : nil }
    }

    /// The payload of a compact JWS, unverified.
    /// - Returns: nil if the text is not a JWS, or its payload is not a JSON object.
    static func payload(ofJWS text: String) -> AnyJSON? {
        guard let json = UnverifiedJWS(text).flatMap({ parse($0.payload) }), case .object = json else { return nil }
        return json
    }
}
