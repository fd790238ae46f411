import Formats

/// The one door for dates that others wrote: stores, Cleeng, apps, files, old rows.
///
/// A number is seconds or milliseconds since 1970, whichever its size says: what is a date before the year 10000 in seconds is
/// seconds. A text is such a number, or a date of ISO 8601. What lies outside of ``datable`` is no date, and neither is zero, which
/// is how stores write "none".
extension Timestamp {
    /// The years 1970 to 9999. The sum of such a moment and any duration of this program fits, and PostgreSQL can
    /// store it.
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
        guard let written = WrittenTime(bytes[...]) else { return nil }
        if let separator = written.separator {
            guard separator == UInt8(ascii: "T") || separator == UInt8(ascii: " ") else { return nil }
        }
        guard let offset = written.zone.isEmpty ? 0 : written.offset else { return nil }
        self.init(datable: (written.seconds - offset) * 1_000_000 + written.microseconds)
    }
}
