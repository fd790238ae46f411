import Formats

/// The public id of a validation: 38 hexadecimal digits.
///
/// | digits | holds |
/// | --- | --- |
/// | 1-2 | the bucket, so that the id alone gives the primary key |
/// | 3-6 | days since 1970, so that a look-up reads one partition |
/// | 7-38 | 128 random bits, so that the id cannot be guessed |
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

/// One of 256 numbers, computed from a row's look-up key. It leads every primary key of the hot tables, so that a later
/// version could divide them by it. Today one PostgreSQL holds them all.
public struct Bucket: Hashable, Sendable {
    public static let count = 256
    public let number: UInt8

    public init(number: UInt8) {
        self.number = number
    }

    /// Hashes the parts with FNV-1a, each closed by a zero byte, and folds the result to eight bits. Rows and public
    /// ids contain it, so it can never change.
    public init(of parts: String...) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for part in parts {
            for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
            hash = hash &* 0x0000_0100_0000_01b3
        }
        hash ^= hash >> 32
        hash ^= hash >> 16
        self.number = UInt8(truncatingIfNeeded: hash ^ (hash >> 8))
    }

    public init<First, Second>(of first: Identifier<First>, _ second: Identifier<Second>) {
        self.init(of: first.text, second.text)
    }
}

extension ValidationID {
    /// UUID (version 4 in form) for the requests of one claim of a pursuit to Cleeng. It has the validation's digits as
    /// far as the form allows, so either can be found by the other. Each claim has its own UUID, since Cleeng may still
    /// know an earlier claim's request.
    ///
    /// - Parameter fence: number of the claim, from 1 on. The first claim's digits are unchanged.
    public func uuid(ofClaim fence: Int32) -> String {
        let high = self.high & ~0xF000 | 0x4000
        let low = self.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        // The changed bits are random anyway.
        let digits = Array((Hex.text(of: high) + Hex.text(of: low ^ UInt64(UInt32(bitPattern: fence &- 1)))).utf8)
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
            .joined(separator: "-")
    }
}
