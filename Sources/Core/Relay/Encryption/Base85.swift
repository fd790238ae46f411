/// Bytes as text: four bytes become five characters of Z85's alphabet (ZeroMQ RFC 32). One to three trailing bytes
/// become one character more than their number. Denser than Base64: an index entry takes 2,704 bytes at most, and the
/// longest name must fit.
enum Base85 {
    private static let alphabet = Array(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)
    /// 255: not in the alphabet.
    private static let digits: [UInt8] = {
        var digits = [UInt8](repeating: 255, count: 256)
        for (digit, character) in alphabet.enumerated() { digits[Int(character)] = UInt8(digit) }
        return digits
    }()

    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 4 * 5 + 5)
        for start in stride(from: 0, to: bytes.count, by: 4) {
            let count = min(4, bytes.count - start)
            var group: UInt32 = 0
            for index in 0..<4 { group = group << 8 | (index < count ? UInt32(bytes[start + index]) : 0) }
            var divisor: UInt32 = 85 * 85 * 85 * 85
            for _ in 0...count {
                text.append(alphabet[Int(group / divisor % 85)])
                divisor /= 85
            }
        }
        return text
    }

    /// Nil for text that ``encode(_:)`` does not produce.
    static func decode(_ text: some RandomAccessCollection<UInt8>) -> [UInt8]? {
        guard text.count % 5 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 5 * 4 + 4)
        var rest = text[...]
        while !rest.isEmpty {
            let characters = rest.prefix(5)
            rest = rest.dropFirst(5)
            var group: UInt64 = 0
            for character in characters {
                let digit = digits[Int(character)]
                guard digit < 85 else { return nil }
                group = group * 85 + UInt64(digit)
            }
            // Missing digits count as 84, the greatest digit. With smaller ones the last byte could be one too low.
            for _ in characters.count..<5 { group = group * 85 + 84 }
            guard group <= UInt64(UInt32.max) || characters.count < 5 else { return nil }
            let word = UInt32(truncatingIfNeeded: group)
            for index in 0..<(characters.count - 1) {
                bytes.append(UInt8(truncatingIfNeeded: word >> (24 - 8 * index)))
            }
        }
        return bytes
    }
}
