extension Timestamp {
    /// Reads `2026-11-20T10:00:00Z`, with up to six decimals, or a date alone, which is its first moment. Always UTC, and nil
    /// outside of ``datable``.
    public init?(rfc3339 text: some StringProtocol) {
        let bytes = Array(text.utf8.prefix(64))
        func has(_ character: Unicode.Scalar, at index: Int) -> Bool {
            index < bytes.count && bytes[index] == UInt8(ascii: character)
        }
        guard let day = Self.day(bytes) else { return nil }
        guard bytes.count > 10 else {
            self.init(datable: day * 86_400_000_000)
            return
        }
        guard bytes.count >= 20, has("T", at: 10), has(":", at: 13), has(":", at: 16), bytes.last == UInt8(ascii: "Z"),
            let hour = Self.number(bytes[11..<13]), let minute = Self.number(bytes[14..<16]),
            let second = Self.number(bytes[17..<19]), hour < 24, minute < 60, second < 60
        else { return nil }
        var fraction: Int64 = 0
        if bytes.count > 20 {
            let digits = bytes[20..<bytes.count - 1]
            guard has(".", at: 19), (1...6).contains(digits.count), let value = Self.number(digits) else { return nil }
            fraction = (digits.count..<6).reduce(value) { value, _ in value * 10 }
        }
        self.init(datable: (day * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000_000 + fraction)
    }

    /// The day since 1970-01-01 that `2026-11-20` at the beginning names; nil where there is no such day.
    static func day(_ bytes: [UInt8]) -> Int64? {
        guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = days(year: year, month: month, day: day)
        // The 31st of a month that has none turns up in the next one.
        return civil(fromDays: days) == (year, month, day) ? days : nil
    }

    /// Of decimal digits, 18 at most.
    static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...18).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// The inverse of ``civil(fromDays:)``, of years that four digits hold.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.floorDivided(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
