/// An instant in the form of PostgreSQL's `timestamptz`: a whole number of microseconds.
///
/// `infinity` and `-infinity` are the largest and the smallest number.
public struct PostgresTimestamp: Sendable, Hashable, Comparable {
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    public var microsecondsSince1970: Int64

    public init(microsecondsSince1970: Int64) {
        self.microsecondsSince1970 = microsecondsSince1970
    }

    public static func < (left: PostgresTimestamp, right: PostgresTimestamp) -> Bool {
        left.microsecondsSince1970 < right.microsecondsSince1970
    }
}

extension PostgresTimestamp {
    /// Microseconds between 1970-01-01 and PostgreSQL's epoch, 2000-01-01.
    private static let epoch: Int64 = 946_684_800_000_000

    /// 4714-11-24 BC, the server's earliest time (`MIN_TIMESTAMP`), in its own count. The server's latest time is later
    /// than any value here.
    private static let earliest: Int64 = -211_813_488_000_000_000

    /// Value on the wire. Times before the server's range become `-infinity`, so that it refuses none.
    var microsecondsSince2000: Int64 {
        guard microsecondsSince1970 != .max else { return .max }
        let (value, isOver) = microsecondsSince1970.subtractingReportingOverflow(Self.epoch)
        return isOver || value < Self.earliest ? .min : value
    }

    init(microsecondsSince2000 value: Int64) {
        let (sum, isOver) = value.addingReportingOverflow(Self.epoch)
        microsecondsSince1970 = value == .min ? .min : isOver ? .max : sum
    }
}
