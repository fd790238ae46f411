import Formats

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Text of an unverified notification, admitted only in a form that can be stored and indexed.
enum SignalText {
    /// The same limit as for texts that apps post: the name of a purchase must fit a database key.
    private static let mostBytes = 1_024

    /// Nil if the text is empty, too long, or holds control characters.
    static func text(_ string: String) -> String? {
        guard !string.isEmpty, string.utf8.count <= mostBytes,
            !string.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return string
    }

    /// Foundation's JSON decoder itself rejects nesting deeper than 512 levels. Member names are bounded before it
    /// runs.
    static func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        guard JSONNames.areShort(in: bytes) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a member's name is too long"))
        }
        return try JSONDecoder().decode(type, from: Data(bytes))
    }
}

/// Distinguishes invalid JSON from JSON of another shape.
struct AnyJSON: Decodable {
    init(from decoder: any Decoder) throws {}
}

/// Lenient reads: a value of another type counts as absent instead of failing, because stores change their formats.
extension KeyedDecodingContainer {
    func text(_ key: Key) -> String? { (try? decodeIfPresent(String.self, forKey: key)).flatMap(SignalText.text) }

    /// A whole number, or a text of digits.
    func integer(_ key: Key) -> Int64? {
        (try? decodeIfPresent(Int64.self, forKey: key)) ?? text(key).flatMap { Int64($0) }
    }

    func inner<T: Decodable>(_ key: Key) -> T? { try? decodeIfPresent(T.self, forKey: key) }
}
