import RelayCore

/// A moment in milliseconds since 1970-01-01T00:00:00Z, the unit of Apple's signed data; exact, unlike a `Double`.
public struct AppleTimestamp: Sendable, Hashable, Comparable {
    public let millisecondsSince1970: Int64

    /// From the year 0001 to the end of 9999, so that every value can be written as RFC 3339 and stored.
    static let representable: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Nil outside the years 0001 to 9999.
    public init?(millisecondsSince1970: Int64) {
        guard Self.representable.contains(millisecondsSince1970) else { return nil }
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// A number that Apple wrote, rounded down to the millisecond; Xcode writes fractions. Nil where it is no date.
    init?(external number: Double) {
        guard let moment = Timestamp(external: number) else { return nil }
        self.init(millisecondsSince1970: moment.microseconds / 1_000)
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }
}
