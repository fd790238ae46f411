/// The fields of a date in the form of RFC 3339 and ISO 8601: `2030-01-01`, `2030-01-01T00:00:00.5Z`, `2030-01-01
/// 00:00:00+0100`.
///
/// Each reader decides which separators, fractions, leap seconds and time zones it takes.
public struct WrittenTime: Sendable {
    /// Byte between date and time. Nil for a date alone, which means its first moment.
    public let separator: UInt8?
    /// Seconds since 1970, before the zone's offset is subtracted. Second 60 counts as the second after it.
    public let seconds: Int64
    public let isLeapSecond: Bool
    /// Number of digits after the point; 0 where there is no point.
    public let fractionDigits: Int
    /// Fraction of the second, cut after six digits.
    public let microseconds: Int64
    /// Everything after the time.
    public let zone: ArraySlice<UInt8>

    /// Nil for a day or time that does not exist, and for any other text.
    public init?(_ bytes: ArraySlice<UInt8>) {
        func has(_ character: Unicode.Scalar, _ offset: Int) -> Bool {
            bytes[bytes.startIndex + offset] == UInt8(ascii: character)
        }
        guard bytes.count >= 10, has("-", 4), has("-", 7), let year = Self.number(bytes, 0, 4),
            let month = Self.number(bytes, 5, 2), let day = Self.number(bytes, 8, 2),
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        guard bytes.count > 10 else {
            (separator, isLeapSecond, fractionDigits, microseconds, zone) = (nil, false, 0, 0, [])
            seconds = date.daysSince1970 * 86_400
            return
        }
        guard bytes.count >= 19, has(":", 13), has(":", 16), let hour = Self.number(bytes, 11, 2),
            let minute = Self.number(bytes, 14, 2), let second = Self.number(bytes, 17, 2), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var rest = bytes.dropFirst(19)
        var (count, fraction) = (0, 0 as Int64)
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            while let byte = rest.first, (0x30...0x39).contains(byte) {
                if count < 6 { fraction = fraction * 10 + Int64(byte - 0x30) }
                count += 1
                rest = rest.dropFirst()
            }
            guard count > 0 else { return nil }
            for _ in min(count, 6)..<6 { fraction *= 10 }
        }
        separator = bytes[bytes.startIndex + 10]
        seconds = date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second
        isLeapSecond = second == 60
        (fractionDigits, microseconds, zone) = (count, fraction, rest)
    }

    /// The zone in seconds east of Greenwich: `Z`, `+01:00` or `+0100`. Nil for anything else.
    public var offset: Int64? {
        guard let sign = zone.first else { return nil }
        if zone.count == 1 { return sign | 0x20 == UInt8(ascii: "z") ? 0 : nil }
        let hasColon = zone.count == 6 && zone[zone.startIndex + 3] == UInt8(ascii: ":")
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), hasColon || zone.count == 5,
            let hours = Self.number(zone, 1, 2), let minutes = Self.number(zone, hasColon ? 4 : 3, 2), hours < 24,
            minutes < 60
        else { return nil }
        return (hours * 3_600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
    }

    private static func number(_ bytes: ArraySlice<UInt8>, _ offset: Int, _ digits: Int) -> Int64? {
        var value: Int64 = 0
        for byte in bytes[bytes.startIndex + offset..<bytes.startIndex + offset + digits] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        return value
    }
}
