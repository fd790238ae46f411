extension AppleTimestamp: CustomStringConvertible {
    /// RFC 3339 in UTC, `2024-02-23T17:27:16Z`; milliseconds only where there are any.
    public var description: String {
        let (days, time) = millisecondsSince1970.quotientAndModulus(of: 86_400_000)
        let (year, month, day) = Self.civilDate(daysSince1970: Int(days))
        let seconds = Int(time / 1000)
        let fraction = Int(time % 1000)
        let date = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
        let clock =
            "\(Self.padded(seconds / 3600, 2)):\(Self.padded(seconds / 60 % 60, 2)):\(Self.padded(seconds % 60, 2))"
        return "\(date)T\(clock)\(fraction == 0 ? "" : "." + Self.padded(fraction, 3))Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// The reverse of `daysSince1970(year:month:day:)`, by 400-year eras of 146,097 days that begin in March.
    private static func civilDate(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = (monthFromMarch + 2) % 12 + 1
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}

extension Int64 {
    /// Division that rounds down, so that moments before 1970 fall on the right day.
    fileprivate func quotientAndModulus(of divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
