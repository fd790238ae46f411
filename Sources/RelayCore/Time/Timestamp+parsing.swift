extension Timestamp {
    /// Reads `2026-11-20T10:00:00Z`, with up to six decimals, or a date alone, which is its first moment. Always UTC.
    public init?(rfc3339 text: some StringProtocol) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= bytes.count else { return nil }
            return bytes[range].reduce(Int64(0) as Int64?) { sum, byte in
                guard let sum, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                return sum * 10 + Int64(byte - UInt8(ascii: "0"))
            }
        }
        func has(_ character: Unicode.Scalar, at index: Int) -> Bool {
            index < bytes.count && bytes[index] == UInt8(ascii: character)
        }
        guard has("-", at: 4), has("-", at: 7), let year = number(0..<4), let month = number(5..<7),
            let day = number(8..<10), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        // The 31st of a month that has none turns up in the next one.
        guard Self.civil(fromDays: days) == (year, month, day) else { return nil }
        guard bytes.count > 10 else {
            self.init(seconds: days * 86_400)
            return
        }
        guard has("T", at: 10), has(":", at: 13), has(":", at: 16), bytes.last == UInt8(ascii: "Z"),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19), hour < 24,
            minute < 60, second < 60
        else { return nil }
        var fraction: Int64 = 0
        if bytes.count > 20 {
            let digits = 20..<bytes.count - 1
            guard has(".", at: 19), (1...6).contains(digits.count), let value = number(digits) else { return nil }
            fraction = (digits.count..<6).reduce(value) { value, _ in value * 10 }
        } else if bytes.count != 20 {
            return nil
        }
        self.init(microseconds: (days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000_000 + fraction)
    }

    /// The inverse of ``civil(fromDays:)``.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.floorDivided(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
