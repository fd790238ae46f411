/// Hexadecimal digits of known length, as in every id that is read or written.
public enum Hex {
    /// Nil if a byte is not a digit. At most 16 digits.
    public static func value(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
        var value: UInt64 = 0
        for byte in digits {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    /// Nil if a character is not a digit, or the number of digits is odd.
    public static func bytes(_ text: Substring) -> [UInt8]? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    /// Two digits for each byte, in lower case.
    public static func text(of bytes: some Collection<UInt8>) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { digits in
            for (index, byte) in bytes.enumerated() {
                write(UInt64(byte), into: digits, at: 2 * index..<2 * index + 2)
            }
            return 2 * bytes.count
        }
    }

    /// All sixteen digits, in lower case.
    public static func text(of value: UInt64) -> String {
        String(unsafeUninitializedCapacity: 16) { digits in
            write(value, into: digits, at: 0..<16)
            return 16
        }
    }

    /// Writes digits in lower case, with leading zeros.
    public static func write(_ value: UInt64, into digits: UnsafeMutableBufferPointer<UInt8>, at range: Range<Int>) {
        var rest = value
        for index in range.reversed() {
            let digit = UInt8(truncatingIfNeeded: rest & 0xf)
            digits.initializeElement(
                at: index, to: digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
            rest >>= 4
        }
    }
}
