import Formats

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Text of a notification, admitted only in a shape that can be stored and indexed: nobody has verified it.
enum SignalText {
    /// As of what apps post: a key of the database's has to hold a purchase's name.
    private static let mostBytes = 1_024

    /// Nil for what is empty, too long, or holds control characters.
    static func text(_ string: String) -> String? {
        guard !string.isEmpty, string.utf8.count <= mostBytes,
            !string.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return string
    }

    /// Foundation's JSON refuses nesting deeper than 512 levels by itself. Names are bounded before it.
    static func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        guard JSONNames.areShort(in: bytes) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a member's name is too long"))
        }
        return try JSONDecoder().decode(type, from: Data(bytes))
    }
}

/// Tells what is no JSON from JSON of another shape.
struct AnyJSON: Decodable {
    init(from decoder: any Decoder) throws {}
}

/// Readings of a field that another shape of value makes absent instead of an error: stores change their shapes.
extension KeyedDecodingContainer {
    func text(_ key: Key) -> String? { (try? decodeIfPresent(String.self, forKey: key)).flatMap(SignalText.text) }

    /// A whole number, or its digits in a text.
    func integer(_ key: Key) -> Int64? {
        (try? decodeIfPresent(Int64.self, forKey: key)) ?? text(key).flatMap { Int64($0) }
    }

    func inner<T: Decodable>(_ key: Key) -> T? { try? decodeIfPresent(T.self, forKey: key) }
}
