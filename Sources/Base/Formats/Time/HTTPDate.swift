/// Dates in HTTP headers (RFC 9110, section 5.6.7).
public enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The preferred form: `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter seconds: since 1970; earlier times are written as its first moment.
    public static func text(secondsSince1970 seconds: Int64) -> String {
        let seconds = max(seconds, 0)
        let (days, inDay) = (seconds / 86_400, seconds % 86_400)
        let date = CivilDate(daysSince1970: days)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let time = "\(two(inDay / 3_600)):\(two(inDay / 60 % 60)):\(two(inDay % 60))"
        return "\(weekdays[Int(days % 7)]), \(two(date.day)) \(months[Int(date.month) - 1]) \(date.year) \(time) GMT"
    }

    /// Reads the three forms that a recipient must understand. Years 1970 to 9999; nil for any other text.
    ///
    /// - Returns: seconds since 1970. A leap second counts as the second after it.
    public static func secondsSince1970(_ text: String) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        let fields = text.split(separator: " ")
        switch fields.count {
        case 6 where fields[5] == "GMT":
            // Sun, 06 Nov 1994 08:49:37 GMT
            return seconds(year: number(fields[3]), month: fields[2], day: fields[1], time: fields[4])
        case 5:
            // Sun Nov  6 08:49:37 1994
            return seconds(year: number(fields[4]), month: fields[1], day: fields[2], time: fields[3])
        case 4 where fields[3] == "GMT":
            // Sunday, 06-Nov-94 08:49:37 GMT
            let date = fields[1].split(separator: "-")
            guard date.count == 3, let year = number(date[2]), year < 100 else { return nil }
            // Two digits mean this century: dates in the last one would be useless as a retry time.
            return seconds(year: 2_000 + year, month: date[1], day: date[0], time: fields[2])
        default: return nil
        }
    }

    private static func seconds(year: Int64?, month: Substring, day: Substring, time: Substring) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map(number)
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2], hour < 24,
            minute < 60, second <= 60, let year, year >= 1_970, let day = number(day),
            let month = months.firstIndex(of: String(month)),
            let date = CivilDate(year: year, month: Int64(month + 1), day: day)
        else { return nil }
        return date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func number(_ text: Substring) -> Int64? {
        (1...4).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}
