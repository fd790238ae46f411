extension Timestamp {
    /// `2026-11-20T10:00:00.000Z`: UTC, always three decimals.
    public var rfc3339: String {
        let days = microseconds.floorDivided(by: 86_400_000_000)
        // Wrapping: of the earliest moments of all, the midnight before is out of range; the difference never is.
        let inDay = microseconds &- days &* 86_400_000_000
        let (year, month, day) = Self.civil(fromDays: days)
        let milliseconds = inDay / 1_000
        var text = ""
        text.reserveCapacity(24)
        text.append(digits: year, width: 4)
        text.append("-")
        text.append(digits: month, width: 2)
        text.append("-")
        text.append(digits: day, width: 2)
        text.append("T")
        text.append(digits: milliseconds / 3_600_000, width: 2)
        text.append(":")
        text.append(digits: milliseconds / 60_000 % 60, width: 2)
        text.append(":")
        text.append(digits: milliseconds / 1_000 % 60, width: 2)
        text.append(".")
        text.append(digits: milliseconds % 1_000, width: 3)
        text.append("Z")
        return text
    }

    /// The proleptic Gregorian date of a day number; the arithmetic counts in eras of 400 years that begin in March, so
    /// that the leap day is the last of its year.
    static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

extension String {
    fileprivate mutating func append(digits value: Int64, width: Int) {
        let text = String(value)
        for _ in 0..<Swift.max(0, width - text.utf8.count) { append("0") }
        append(text)
    }
}
