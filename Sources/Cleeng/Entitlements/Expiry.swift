/// The times that Cleeng writes as a number, as a number in a string, or as an ISO 8601 date.
enum Expiry {
    /// No date of this century in seconds is as large, and none in milliseconds as small.
    private static let smallestMilliseconds = 100_000_000_000.0

    static func seconds(_ number: Double) -> Int64? {
        let seconds = number >= smallestMilliseconds ? number / 1000 : number
        guard seconds > 0, seconds <= Double(CivilTime.latest) else { return nil }
        return Int64(seconds)
    }

    static func seconds(_ text: String) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        if let number = Double(text) { return seconds(number) }
        return iso8601(Array(text.utf8))
    }

    /// `2030-01-01T00:00:00`, then perhaps a fraction, then perhaps `Z` or an offset; without one it is UTC.
    private static func iso8601(_ bytes: [UInt8]) -> Int64? {
        guard bytes.count >= 19, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " "),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
            let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]),
            let second = number(bytes[17..<19]),
            let local = CivilTime.seconds(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        var rest = bytes[19...]
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst().drop { (0x30...0x39).contains($0) }
        }
        guard let offset = offset(Array(rest)) else { return nil }
        return local - offset
    }

    private static func offset(_ bytes: [UInt8]) -> Int64? {
        guard let sign = bytes.first, bytes != [UInt8(ascii: "Z")] else { return 0 }
        let digits = bytes.dropFirst().filter { $0 != UInt8(ascii: ":") }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), digits.count == 4,
            let hours = number(digits[0..<2]), let minutes = number(digits[2..<4]), hours < 24, minutes < 60
        else { return nil }
        let seconds = Int64(hours * 3600 + minutes * 60)
        return sign == UInt8(ascii: "-") ? -seconds : seconds
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
