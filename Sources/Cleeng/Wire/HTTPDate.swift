/// Dates in HTTP headers, in the three forms that a recipient must understand (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Seconds since 1970; nil for what is no date.
    static func seconds(_ text: String) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        let fields = text.split(separator: " ")
        switch fields.count {
        case 6 where fields[5] == "GMT":
            // Sun, 06 Nov 1994 08:49:37 GMT
            return seconds(year: fields[3], month: fields[2], day: fields[1], time: fields[4])
        case 5:
            // Sun Nov  6 08:49:37 1994
            return seconds(year: fields[4], month: fields[1], day: fields[2], time: fields[3])
        case 4 where fields[3] == "GMT":
            // Sunday, 06-Nov-94 08:49:37 GMT
            let date = fields[1].split(separator: "-")
            guard date.count == 3, let year = number(date[2]), year < 100 else { return nil }
            // A date far in the future would mean a Retry-After of decades, so the century is this one.
            return seconds(year: "\(2000 + year)", month: date[1], day: date[0], time: fields[2])
        default: return nil
        }
    }

    private static func seconds(
        year: Substring, month: Substring, day: Substring, time: Substring
    ) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let year = number(year), let day = number(day),
            let month = months.firstIndex(of: String(month)),
            let hour = number(clock[0]), let minute = number(clock[1]), let second = number(clock[2])
        else { return nil }
        return CivilTime.seconds(
            year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    private static func number(_ text: Substring) -> Int? {
        (1...4).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
