/// The one door for dates that others wrote: stores, Cleeng, apps, files, old rows.
///
/// A number is seconds or milliseconds since 1970, whichever its size says: what is a date before the year 10000 in seconds is
/// seconds. A text is such a number, or a date of ISO 8601. What lies outside of ``datable`` is no date, and neither is zero, which
/// is how stores write "none".
extension Timestamp {
    /// From 1970 to the end of 9999. Every sum of such a moment and a time that this program works with fits, and PostgreSQL
    /// holds it.
    public static let datable = Timestamp(microseconds: 0)...Timestamp(microseconds: 253_402_300_799_999_999)

    /// The first second after ``datable``.
    private static let end: Int64 = 253_402_300_800

    /// Nil outside of ``datable``.
    public init?(datable microseconds: Int64) {
        let moment = Timestamp(microseconds: microseconds)
        guard Self.datable.contains(moment) else { return nil }
        self = moment
    }

    public init?(external number: Int64) {
        guard number > 0, number < Self.end * 1_000 else { return nil }
        self.init(datable: number * (number < Self.end ? 1_000_000 : 1_000))
    }

    public init?(external number: Double) {
        // Also false of what is no number.
        guard number > 0, number < Double(Self.end * 1_000) else { return nil }
        let microseconds = (number * (number < Double(Self.end) ? 1_000_000 : 1_000)).rounded()
        guard let microseconds = Int64(exactly: microseconds), microseconds > 0 else { return nil }
        self.init(datable: microseconds)
    }

    public init?(external text: some StringProtocol) {
        guard text.utf8.count <= 64 else { return nil }
        let moment =
            if let number = Int64(text) {
                Timestamp(external: number)
            } else if let number = Double(text) {
                Timestamp(external: number)
            } else {
                Timestamp(iso8601: Array(text.utf8))
            }
        guard let moment, moment.microseconds > 0 else { return nil }
        self = moment
    }

    /// `2030-01-01`, then perhaps `T` or a space and `00:00:00`, then perhaps a fraction, then perhaps `Z` or an offset; without
    /// one it is UTC. A leap second counts as the second after it.
    private init?(iso8601 bytes: [UInt8]) {
        guard let day = Self.day(bytes) else { return nil }
        guard bytes.count > 10 else {
            self.init(datable: day * 86_400_000_000)
            return
        }
        guard bytes.count >= 19, bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " "),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"), let hour = Self.number(bytes[11..<13]),
            let minute = Self.number(bytes[14..<16]), let second = Self.number(bytes[17..<19]), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var rest = bytes[19...]
        var fraction: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty, let value = Self.number(digits.prefix(6)) else { return nil }
            fraction = (min(digits.count, 6)..<6).reduce(value) { value, _ in value * 10 }
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let offset = Self.offset(Array(rest)) else { return nil }
        let seconds = day * 86_400 + hour * 3_600 + minute * 60 + second - offset
        self.init(datable: seconds * 1_000_000 + fraction)
    }

    /// In seconds east of Greenwich: of nothing or `Z` 0, else of `+01:00` or `+0100`.
    private static func offset(_ bytes: [UInt8]) -> Int64? {
        guard let sign = bytes.first, bytes != [UInt8(ascii: "Z")] else { return 0 }
        let digits = bytes.dropFirst().filter { $0 != UInt8(ascii: ":") }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), digits.count == 4,
            let hours = number(digits[0..<2]), let minutes = number(digits[2..<4]), hours < 24, minutes < 60
        else { return nil }
        return (hours * 3_600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
    }
}
