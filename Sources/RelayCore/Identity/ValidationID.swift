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
    public init?(_ text: String) {
        self.init(Substring(text))
    }

    /// Nil unless exactly 38 hexadecimal digits, in either case.
    public init?(_ text: Substring) {
        var text = text
        guard let id = text.withUTF8({ Self(digits: $0) }) else { return nil }
        self = id
    }

    private init?(digits: UnsafeBufferPointer<UInt8>) {
        guard digits.count == 38, let head = Hex.value(digits[..<6]), let high = Hex.value(digits[6..<22]),
            let low = Hex.value(digits[22...])
        else { return nil }
        self.init(
            bucket: Bucket(number: UInt8(truncatingIfNeeded: head >> 16)), day: UInt16(truncatingIfNeeded: head),
            high: high, low: low)
    }

    public var description: String {
        String(unsafeUninitializedCapacity: 38) { digits in
            Hex.write(UInt64(bucket.number) << 16 | UInt64(day), into: digits, at: 0..<6)
            Hex.write(high, into: digits, at: 6..<22)
            Hex.write(low, into: digits, at: 22..<38)
            return 38
        }
    }
}
