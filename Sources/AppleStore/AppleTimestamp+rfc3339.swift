extension AppleTimestamp {
    /// A date as receipts write it: RFC 3339 (`2024-02-23T17:27:16Z`), with old Xcode's offset without a colon
    /// (`+0100`), or the `2014-06-19 20:23:11 Etc/GMT` of transaction receipts.
    ///
    /// Nil for anything else, the empty string included, which is how Apple writes "none".
    init?(text bytes: ArraySlice<UInt8>) {
        var scanner = DigitScanner(bytes)
        guard let year = scanner.number(4), scanner.take("-"),
            let month = scanner.number(2), scanner.take("-"),
            let day = scanner.number(2), scanner.take("T") || scanner.take("t") || scanner.take(" "),
            let hour = scanner.number(2), scanner.take(":"),
            let minute = scanner.number(2), scanner.take(":"),
            let second = scanner.number(2),
            (1...9999).contains(year), (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day),
            hour < 24, minute < 60, second <= 60,
            let fraction = scanner.milliseconds(), let offset = scanner.offsetMinutes(), scanner.isAtEnd
        else { return nil }
        let minutes = (Self.daysSince1970(year: year, month: month, day: day) * 24 + hour) * 60 + minute - offset
        self.init(millisecondsSince1970: Int64((minutes * 60 + second) * 1000 + fraction))
    }

    private static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the proleptic Gregorian calendar. The year is taken to begin in March, so that the leap day is its last.
    static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
