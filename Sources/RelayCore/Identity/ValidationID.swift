/// The public name of a validation: 38 hexadecimal digits.
///
/// | digits | holds |
/// | --- | --- |
/// | 1-2 | the bucket, so that a look-up by id alone reaches one shard |
/// | 3-6 | days since 1970, so that it reaches one partition |
/// | 7-38 | 128 random bits: what makes it impossible to guess |
public struct ValidationID: Hashable, Sendable, CustomStringConvertible {
    public let bucket: Bucket
    public let day: UInt16
    public let high: UInt64
    public let low: UInt64

    public init(bucket: Bucket, day: UInt16, high: UInt64, low: UInt64) {
        self.bucket = bucket
        self.day = day
        self.high = high
        self.low = low
    }

    public init(bucket: Bucket, day: UInt16, using generator: inout some RandomNumberGenerator) {
        self.init(bucket: bucket, day: day, high: generator.next(), low: generator.next())
    }

    /// Nil unless exactly 38 hexadecimal digits, in either case.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 38 else { return nil }
        var head: UInt32 = 0
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in text.utf8.enumerated() {
            guard let digit = Self.value(ofHex: byte) else { return nil }
            switch index {
            case ..<6: head = head << 4 | UInt32(digit)
            case ..<22: words.0 = words.0 << 4 | UInt64(digit)
            default: words.1 = words.1 << 4 | UInt64(digit)
            }
        }
        self.init(
            bucket: Bucket(number: UInt8(truncatingIfNeeded: head >> 16)), day: UInt16(truncatingIfNeeded: head),
            high: words.0, low: words.1)
    }

    public var description: String {
        var text = ""
        text.reserveCapacity(38)
        text.append(hex: UInt64(bucket.number), digits: 2)
        text.append(hex: UInt64(day), digits: 4)
        text.append(hex: high, digits: 16)
        text.append(hex: low, digits: 16)
        return text
    }

    private static func value(ofHex byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension String {
    fileprivate mutating func append(hex value: UInt64, digits: Int) {
        let text = String(value, radix: 16)
        for _ in 0..<(digits - text.utf8.count) { append("0") }
        append(text)
    }
}
