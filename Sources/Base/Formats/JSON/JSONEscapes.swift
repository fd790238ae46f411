/// Selects the control characters that a JSON string escapes by a letter (`\n`) instead of by number (`\u000a`).
public struct JSONEscapes: Sendable {
    /// A bit for each character below 0x20.
    private let lettered: UInt32

    /// Every control character for which RFC 8259 defines a letter: `\b`, `\f`, `\n`, `\r`, `\t`.
    public static let letters = JSONEscapes(lettered: 1 << 0x08 | 1 << 0x0C | 1 << 0x0A | 1 << 0x0D | 1 << 0x09)
    /// `\n`, `\r` and `\t`.
    public static let lines = JSONEscapes(lettered: 1 << 0x0A | 1 << 0x0D | 1 << 0x09)
    public static let numbers = JSONEscapes(lettered: 0)

    fileprivate func letter(of unit: UInt16) -> Unicode.Scalar? {
        switch unit {
        case 0x22: "\""
        case 0x5C: "\\"
        case ..<0x20 where lettered & 1 << UInt32(unit) != 0:
            switch unit {
            case 0x08: "b"
            case 0x0C: "f"
            case 0x0A: "n"
            case 0x0D: "r"
            default: "t"
            }
        default: nil
        }
    }
}

extension [UInt8] {
    /// Appends a quoted JSON string. Text without a character to escape, as Base64 is, is copied as a whole.
    public mutating func appendJSON(_ text: String, _ escapes: JSONEscapes = .letters) {
        var text = text
        text.withUTF8 { appendJSON(utf8: $0, escapes) }
    }

    /// - Parameter utf8: text in UTF-8, unquoted.
    public mutating func appendJSON(utf8: UnsafeBufferPointer<UInt8>, _ escapes: JSONEscapes = .letters) {
        append(UInt8(ascii: "\""))
        var start = 0
        for index in utf8.indices where utf8[index] < 0x20 || utf8[index] == 0x22 || utf8[index] == 0x5C {
            append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
            appendJSONEscape(UInt16(utf8[index]), escapes)
            start = index + 1
        }
        append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        append(UInt8(ascii: "\""))
    }

    /// - Parameter unit: a UTF-16 code unit.
    public mutating func appendJSONEscape(_ unit: UInt16, _ escapes: JSONEscapes) {
        append(UInt8(ascii: "\\"))
        if let letter = escapes.letter(of: unit) { return append(UInt8(ascii: letter)) }
        append(UInt8(ascii: "u"))
        for shift in [12, 8, 4, 0] as [UInt16] {
            let digit = UInt8(truncatingIfNeeded: unit >> shift & 0xF)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    package mutating func append(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
