extension JSONScanner {
    /// Reads the rest of a string from its first escape on. The string's text begins at `start`.
    mutating func escapedString(from start: Int) throws(JSONSyntaxError) -> String {
        var content = [UInt8](bytes[start..<index])
        var run = index
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                content += bytes[run..<index]
                index += 1
                guard let text = String(validating: content, as: UTF8.self) else { throw error }
                return text
            case UInt8(ascii: "\\"):
                content += bytes[run..<index]
                index += 1
                content += try escape()
                run = index
            case ..<0x20: throw error
            default: index += 1
            }
        }
        throw error
    }

    private mutating func escape() throws(JSONSyntaxError) -> String.UTF8View {
        guard index < bytes.count else { throw error }
        let letter = bytes[index]
        index += 1
        switch letter {
        case UInt8(ascii: "\""): return "\"".utf8
        case UInt8(ascii: "\\"): return "\\".utf8
        case UInt8(ascii: "/"): return "/".utf8
        case UInt8(ascii: "b"): return "\u{8}".utf8
        case UInt8(ascii: "f"): return "\u{c}".utf8
        case UInt8(ascii: "n"): return "\n".utf8
        case UInt8(ascii: "r"): return "\r".utf8
        case UInt8(ascii: "t"): return "\t".utf8
        case UInt8(ascii: "u"): return String(Character(try unicodeEscape())).utf8
        default: throw error
        }
    }

    private mutating func unicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try fourHexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        // Half of a surrogate pair is not a character, and PostgreSQL's text could not store it.
        guard first < 0xdc00, index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
        else { throw JSONSyntaxError(offset: index, reason: .surrogate) }
        index += 2
        let second = try fourHexDigits()
        guard (0xdc00...0xdfff).contains(second),
            let scalar = Unicode.Scalar(0x1_0000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw JSONSyntaxError(offset: index, reason: .surrogate) }
        return scalar
    }

    private mutating func fourHexDigits() throws(JSONSyntaxError) -> UInt32 {
        guard index + 4 <= bytes.count else { throw error }
        var value: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw error
            }
            value = value << 4 | UInt32(digit)
        }
        index += 4
        return value
    }
}
