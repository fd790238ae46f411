#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A moment of the wall clock, as seconds and nanoseconds since 1970 in UTC.
public struct WallTime: Sendable, Equatable {
    public var seconds: Int64
    /// 0 to 999,999,999.
    public var nanoseconds: Int64

    public init(seconds: Int64, nanoseconds: Int64 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The system's real-time clock.
    public static func now() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    /// `2026-11-20T10:00:00.000Z`: RFC 3339 in UTC, with milliseconds cut, not rounded.
    public var rfc3339: String {
        var bytes: [UInt8] = []
        appendRFC3339(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func appendRFC3339(to bytes: inout [UInt8]) {
        let days = seconds.dividedFloor(by: 86_400)
        let second = seconds - days * 86_400
        let (year, month, day) = civilDate(days: days)
        bytes.appendDigits(year, width: 4)
        bytes.append(UInt8(ascii: "-"))
        bytes.appendDigits(month, width: 2)
        bytes.append(UInt8(ascii: "-"))
        bytes.appendDigits(day, width: 2)
        bytes.append(UInt8(ascii: "T"))
        bytes.appendDigits(second / 3600, width: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.appendDigits(second / 60 % 60, width: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.appendDigits(second % 60, width: 2)
        bytes.append(UInt8(ascii: "."))
        bytes.appendDigits(nanoseconds / 1_000_000, width: 3)
        bytes.append(UInt8(ascii: "Z"))
    }

    /// Counts in years that begin on the first of March, so that the leap day is a year's last and needs no case.
    private func civilDate(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.dividedFloor(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func dividedFloor(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension [UInt8] {
    fileprivate mutating func appendDigits(_ value: Int64, width: Int) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: (value / divisor) % 10))
            divisor /= 10
        }
    }
}
