import Formats

/// Reads all dates from outside: stores, Cleeng, apps, files, old rows.
///
/// A number counts seconds if that gives a year before 10000, else milliseconds since 1970. A text is such a number or
/// an ISO 8601 date. A value outside ``datable`` is not a date, and neither is zero: stores write it for "none".
extension Timestamp {
    /// The years 1970 to 9999. Adding any duration of this program cannot overflow, and PostgreSQL can store the
    /// values.
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
        // Also rejects NaN.
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

    /// Reads `2030-01-01`, then optionally `T` or a space and `00:00:00`, a fraction, and `Z` or an offset. Without an
    /// offset it is UTC. A leap second counts as the second after it.
    private init?(iso8601 bytes: [UInt8]) {
        guard let written = WrittenTime(bytes[...]) else { return nil }
        if let separator = written.separator {
            guard separator == UInt8(ascii: "T") || separator == UInt8(ascii: " ") else { return nil }
        }
        guard let offset = written.zone.isEmpty ? 0 : written.offset else { return nil }
        self.init(datable: (written.seconds - offset) * 1_000_000 + written.microseconds)
    }
}
