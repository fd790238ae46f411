extension Timestamp {
    /// `2026-11-20T10:00:00.000Z`: UTC, always three decimals.
    public var rfc3339: String {
        let days = microseconds.floorDivided(by: 86_400_000_000)
        // Wrapping: of the earliest moments of all, the midnight before is out of range; the difference never is.
        let inDay = microseconds &- days &* 86_400_000_000
        let (year, month, day) = Self.civil(fromDays: days)
        let milliseconds = inDay / 1_000
        guard (0...9_999).contains(year) else { return Self.farText(year, month, day, milliseconds) }
        return String(unsafeUninitializedCapacity: 24) { text in
            func write(_ value: Int64, width: Int, at start: Int, then separator: Unicode.Scalar) {
                var rest = value
                for index in (start..<start + width).reversed() {
                    text.initializeElement(at: index, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
                    rest /= 10
                }
                text.initializeElement(at: start + width, to: UInt8(ascii: separator))
            }
            write(year, width: 4, at: 0, then: "-")
            write(month, width: 2, at: 5, then: "-")
            write(day, width: 2, at: 8, then: "T")
            write(milliseconds / 3_600_000, width: 2, at: 11, then: ":")
            write(milliseconds / 60_000 % 60, width: 2, at: 14, then: ":")
            write(milliseconds / 1_000 % 60, width: 2, at: 17, then: ".")
            write(milliseconds % 1_000, width: 3, at: 20, then: "Z")
            return 24
        }
    }

    /// The proleptic Gregorian date of a day number; the arithmetic counts in eras of 400 years that begin in March, so
    /// that the leap day is the last of its year.
    /// Days that no timestamp holds are taken for the nearest one that it does.
    public static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = min(max(days, -106_751_992), 106_751_991) + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// Years that four digits do not hold.
    private static func farText(_ year: Int64, _ month: Int64, _ day: Int64, _ milliseconds: Int64) -> String {
        func padded(_ value: Int64, _ width: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let (hours, minutes) = (milliseconds / 3_600_000, milliseconds / 60_000 % 60)
        let seconds = "\(padded(milliseconds / 1_000 % 60, 2)).\(padded(milliseconds % 1_000, 3))"
        return "\(date)T\(padded(hours, 2)):\(padded(minutes, 2)):\(seconds)Z"
    }
}
