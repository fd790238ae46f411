import Formats
import RelayCore

/// Lenient reads: a value of another type counts as absent instead of failing, because stores change their formats.
extension KeyedDecodingContainer {
    func text(_ key: Key) -> String? {
        (try? decodeIfPresent(String.self, forKey: key)).flatMap(StoreText.text)
    }

    /// A text, or a whole number instead.
    func identifier(_ key: Key) -> String? {
        guard contains(key) else { return nil }
        if let string = try? decode(String.self, forKey: key) { return StoreText.identifier(string) }
        return integer(key).map { String($0) }
    }

    func text<Kind>(_ key: Key) -> Identifier<Kind>? { Identifier(text(key) as String?) }

    func identifier<Kind>(_ key: Key) -> Identifier<Kind>? { Identifier(identifier(key) as String?) }

    /// A whole number, or a text of digits.
    func integer(_ key: Key) -> Int64? {
        guard contains(key) else { return nil }
        if let number = try? decode(Int64.self, forKey: key) { return number }
        return (try? decode(String.self, forKey: key)).flatMap { Int64($0) }
    }

    /// A Boolean, or `true`, `false`, 1 or 0 as text or number.
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

    /// Any number, or a text of digits: milliseconds or seconds since 1970, depending on its size.
    func date(_ key: Key) -> AppleTimestamp? {
        guard contains(key) else { return nil }
        if let number = try? decode(Double.self, forKey: key) { return AppleTimestamp(external: number) }
        return identifier(key).flatMap { Double($0) }.flatMap { AppleTimestamp(external: $0) }
    }
}

/// Distinguishes an absent field from one of unknown form. Both are read as nil.
extension KeyedDecodingContainer {
    /// Whether a field holds something that was not read. Apple writes "absent" as `null` or an empty text.
    ///
    /// - Parameter value: the result of reading the field.
    func isUnreadable(_ key: Key, _ value: (some Any)?) -> Bool {
        guard value == nil, contains(key), (try? decodeNil(forKey: key)) != true else { return false }
        return (try? decode(String.self, forKey: key)) != ""
    }

    /// The same for an end date. A number that is not a date means "no end": 0, or a time after the year 9999.
    func isUnreadable(_ key: Key, end: AppleTimestamp?) -> Bool {
        isUnreadable(key, end) && (try? decode(Double.self, forKey: key)) == nil
    }
}

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The only use of Foundation's JSON decoder, which itself rejects nesting deeper than 512 levels. ``JSONNames`` bounds
/// member names before it runs.
enum StoreJSON {
    static func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        guard JSONNames.areShort(in: bytes) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a member's name is too long"))
        }
        return try JSONDecoder().decode(type, from: Data(bytes))
    }
}

/// Text from a receipt, admitted only in a form that can be stored and indexed. An unverified receipt may hold
/// anything, including NUL characters and megabytes.
enum StoreText {
    /// UTF-8 of 1 to 255 bytes without control characters. Apple writes "absent" as an empty string.
    static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty, bytes.count <= ReceiptLimits.textValueBytes else { return nil }
        for byte in bytes where byte < 0x20 || byte == 0x7F { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A transaction id or similar: 1 to 64 visible ASCII characters. It stays text, as Apple defines it.
    static func identifier(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty, bytes.count <= ReceiptLimits.identifierBytes else { return nil }
        for byte in bytes where !(0x21...0x7E).contains(byte) { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    static func text(_ string: String) -> String? { text(Array(string.utf8)[...]) }
    static func identifier(_ string: String) -> String? { identifier(Array(string.utf8)[...]) }
}
