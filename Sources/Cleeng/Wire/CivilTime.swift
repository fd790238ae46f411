/// Dates of the Gregorian calendar as seconds since 1970 in UTC.
enum CivilTime {
    static let latest: Int64 = 253_402_300_799

    /// Nil for a day or a time that does not exist. A leap second counts as the second after it.
    static func seconds(
        year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
    ) -> Int64? {
        guard (1970...9999).contains(year), (1...12).contains(month),
            (1...daysInMonth(month, year: year)).contains(day), (0...23).contains(hour), (0...59).contains(minute),
            (0...60).contains(second)
        else { return nil }
        // Years that begin in March have their leap day at the end.
        let shiftedYear = month > 2 ? year : year - 1
        let shiftedMonth = month > 2 ? month - 3 : month + 9
        let leapDays = shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
        let days = shiftedYear * 365 + leapDays + (153 * shiftedMonth + 2) / 5 + day - 1 - 719_468
        return Int64(((days * 24 + hour) * 60 + minute) * 60 + second)
    }

    private static func daysInMonth(_ month: Int, year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
