/// Decodes Base64, four characters at a time.
public enum Base64 {
    public enum Alphabet: Sendable {
        /// Standard and URL-safe characters, white space anywhere. Padding is optional, but must be complete if
        /// present.
        case lenient
        /// RFC 7515: URL-safe characters only, no white space, no padding.
        case urlSafe
    }

    /// Nil for a character outside the alphabet, an impossible length, and stray bits at the end.
    public static func decode(_ text: UnsafeBufferPointer<UInt8>, _ alphabet: Alphabet) -> [UInt8]? {
        let table = alphabet == .lenient ? lenientTable : urlSafeTable
        var isValid = false
        let decoded = table.withUnsafeBufferPointer { table in
            [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 3) { output, count in
                isValid = decode(text, table, into: output, &count)
            }
        }
        return isValid ? decoded : nil
    }

    public static func decode(_ text: some Collection<UInt8>, _ alphabet: Alphabet) -> [UInt8]? {
        if let decoded = text.withContiguousStorageIfAvailable({ decode($0, alphabet) }) { return decoded }
        return Array(text).withUnsafeBufferPointer { decode($0, alphabet) }
    }

    /// Writes at most three bytes for each four characters, and three more for the last, so `output` is large enough.
    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, _ table: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int
    ) -> Bool {
        var index = 0
        var written = 0
        var bits: UInt32 = 0
        var held = 0
        defer { count = written }
        while index < text.count {
            if held == 0, text.count - index >= 4 {
                let (a, b) = (table[Int(text[index])], table[Int(text[index + 1])])
                let (c, d) = (table[Int(text[index + 2])], table[Int(text[index + 3])])
                if (a | b | c | d) & 0x80 == 0 {
                    let group = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6 | UInt32(d)
                    output[written] = UInt8(truncatingIfNeeded: group >> 16)
                    output[written + 1] = UInt8(truncatingIfNeeded: group >> 8)
                    output[written + 2] = UInt8(truncatingIfNeeded: group)
                    written += 3
                    index += 4
                    continue
                }
            }
            let value = table[Int(text[index])]
            if value == padding { break }
            index += 1
            if value == space { continue }
            guard value < 64 else { return false }
            bits = bits << 6 | UInt32(value)
            held += 1
            if held == 4 {
                output[written] = UInt8(truncatingIfNeeded: bits >> 16)
                output[written + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                output[written + 2] = UInt8(truncatingIfNeeded: bits)
                written += 3
                (bits, held) = (0, 0)
            }
        }
        guard isEnd(text[index...], table, held: held) else { return false }
        switch held {
        case 2:
            guard bits & 0xF == 0 else { return false }
            output[written] = UInt8(truncatingIfNeeded: bits >> 4)
            written += 1
        case 3:
            guard bits & 0x3 == 0 else { return false }
            output[written] = UInt8(truncatingIfNeeded: bits >> 10)
            output[written + 1] = UInt8(truncatingIfNeeded: bits >> 2)
            written += 2
        case 1: return false
        default: break
        }
        return true
    }

    /// Whether `rest` is a valid end: nothing, or exactly the padding that completes the text, with any white space.
    private static func isEnd(
        _ rest: Slice<UnsafeBufferPointer<UInt8>>, _ table: UnsafeBufferPointer<UInt8>, held: Int
    ) -> Bool {
        var pads = 0
        for byte in rest {
            switch table[Int(byte)] {
            case padding: pads += 1
            case space: continue
            default: return false
            }
        }
        return pads == 0 || (held > 1 && held + pads == 4)
    }
}

extension Base64 {
    fileprivate static let invalid: UInt8 = 0xFF
    fileprivate static let space: UInt8 = 0xFE
    fileprivate static let padding: UInt8 = 0xFD

    /// Value of each byte. Bytes outside the alphabet have the top bit set.
    fileprivate static let lenientTable: [UInt8] = {
        var table = urlSafeTable
        table[Int(UInt8(ascii: "+"))] = 62
        table[Int(UInt8(ascii: "/"))] = 63
        table[Int(UInt8(ascii: "="))] = padding
        for byte in " \t\r\n".utf8 { table[Int(byte)] = space }
        return table
    }()

    fileprivate static let urlSafeTable: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        for (value, byte) in digits.utf8.enumerated() { table[Int(byte)] = UInt8(value) }
        return table
    }()
}
