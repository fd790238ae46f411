package import NIOCore
import NIOFoundationCompat
package import RelayCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A store's answer, of which nothing is taken for granted: a field that is not what it should be is one that is not there.
package enum StoreJSON: Sendable, Equatable, Decodable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([StoreJSON])
    case object([String: StoreJSON])

    private static let maximumDepth = 12

    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if decoder.codingPath.count > Self.maximumDepth || value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let list = try? value.decode([StoreJSON].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: StoreJSON].self))
        }
    }

    /// Nil for what is no JSON object.
    package init?(object body: ByteBuffer) {
        guard let value = try? JSONDecoder().decode(StoreJSON.self, from: Data(buffer: body)),
            case .object = value
        else { return nil }
        self = value
    }

    package subscript(_ key: String) -> StoreJSON? {
        guard case .object(let members) = self, let value = members[key], value != .null else { return nil }
        return value
    }

    /// Longer than anything that a store says in one text, it is none.
    private static let maximumText = 8_192

    package var text: String? {
        guard case .text(let text) = self, (1...Self.maximumText).contains(text.utf8.count) else { return nil }
        return text
    }
    package var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    package var list: [StoreJSON] { if case .list(let list) = self { list } else { [] } }
    package var isObject: Bool { if case .object = self { true } else { false } }

    /// A whole number, or one as text: Google writes those of 64 bits so.
    package var integer: Int64? {
        switch self {
        case .number(let number): Int64(exactly: number)
        case .text(let text): Int64(text)
        default: nil
        }
    }

    /// A date in any of its forms; what is finer than a microsecond is cut off. Nil for what is none.
    package var moment: Timestamp? {
        switch self {
        case .number(let number): Timestamp(external: number)
        case .text(let text): Timestamp(external: text)
        default: nil
        }
    }
}
