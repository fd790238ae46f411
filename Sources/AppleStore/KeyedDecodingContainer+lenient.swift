import Formats
import RelayCore

/// Readings of a field that another shape of value makes absent instead of an error: stores change their shapes.
extension KeyedDecodingContainer {
    func text(_ key: Key) -> String? {
        (try? decodeIfPresent(String.self, forKey: key)).flatMap(StoreText.text)
    }

    /// Text, or a whole number in its place.
    func identifier(_ key: Key) -> String? {
        guard contains(key) else { return nil }
        if let string = try? decode(String.self, forKey: key) { return StoreText.identifier(string) }
        return integer(key).map { String($0) }
    }

    func text<Kind>(_ key: Key) -> Identifier<Kind>? { Identifier(text(key) as String?) }

    func identifier<Kind>(_ key: Key) -> Identifier<Kind>? { Identifier(identifier(key) as String?) }

    /// A whole number, or its digits in a text.
    func integer(_ key: Key) -> Int64? {
        guard contains(key) else { return nil }
        if let number = try? decode(Int64.self, forKey: key) { return number }
        return (try? decode(String.self, forKey: key)).flatMap { Int64($0) }
    }

    /// A truth value, or `true`, `false`, 1 or 0 as text or number.
    func bool(_ key: Key) -> Bool? {
        guard contains(key) else { return nil }
        if let flag = try? decode(Bool.self, forKey: key) { return flag }
        let text: String? = identifier(key)
        return switch text {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// A number, whole or not, or digits in a text: milliseconds since 1970, or seconds, as its size says.
    func date(_ key: Key) -> AppleTimestamp? {
        guard contains(key) else { return nil }
        if let number = try? decode(Double.self, forKey: key) { return AppleTimestamp(external: number) }
        return identifier(key).flatMap { Double($0) }.flatMap { AppleTimestamp(external: $0) }
    }
}

/// Tells a field that is absent from one whose form this program does not know. Both are nil once they are read.
extension KeyedDecodingContainer {
    /// Whether a field holds something that was not read. `null` and the empty text are how Apple writes "absent".
    ///
    /// - Parameter value: what was read of it.
    func isUnreadable(_ key: Key, _ value: (some Any)?) -> Bool {
        guard value == nil, contains(key), (try? decodeNil(forKey: key)) != true else { return false }
        return (try? decode(String.self, forKey: key)) != ""
    }

    /// The same of the end of something. A number that is no date means that there is none: 0, or a moment after the year 9999.
    func isUnreadable(_ key: Key, end: AppleTimestamp?) -> Bool {
        isUnreadable(key, end) && (try? decode(Double.self, forKey: key)) == nil
    }
}

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The one door to Foundation's JSON, which refuses nesting deeper than 512 levels by itself. Names are bounded before it (``JSONNames``).
enum StoreJSON {
    static func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        guard JSONNames.areShort(in: bytes) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a member's name is too long"))
        }
        return try JSONDecoder().decode(type, from: Data(bytes))
    }
}

/// Text out of a receipt, admitted only in a shape that can be stored and indexed: a receipt nobody has verified may
/// hold anything, NUL characters and megabytes included.
enum StoreText {
    /// UTF-8 of 1 to 255 bytes without control characters; an empty string is how Apple writes "absent".
    static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty, bytes.count <= ReceiptLimits.textValueBytes else { return nil }
        for byte in bytes where byte < 0x20 || byte == 0x7F { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A transaction number or its like: 1 to 64 visible ASCII characters. Numbers stay text: Apple calls them strings.
    static func identifier(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty, bytes.count <= ReceiptLimits.identifierBytes else { return nil }
        for byte in bytes where !(0x21...0x7E).contains(byte) { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    static func text(_ string: String) -> String? { text(Array(string.utf8)[...]) }
    static func identifier(_ string: String) -> String? { identifier(Array(string.utf8)[...]) }
}
