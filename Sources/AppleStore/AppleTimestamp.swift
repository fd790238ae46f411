import Formats
public import RelayCore

/// A moment in milliseconds since 1970-01-01T00:00:00Z, the unit of Apple's signed data; exact, unlike a `Double`.
public struct AppleTimestamp: Sendable, Hashable, Comparable {
    public let millisecondsSince1970: Int64

    /// The years 0001 to 9999: every value can be written as RFC 3339 and stored.
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

extension AppleTimestamp {
    /// A date as receipts write it: RFC 3339 (`2024-02-23T17:27:16Z`), with old Xcode's offset without a colon
    /// (`+0100`), or the `2014-06-19 20:23:11 Etc/GMT` of transaction receipts.
    ///
    /// Nil for anything else, the empty string included, which is how Apple writes "none".
    init?(text bytes: ArraySlice<UInt8>) {
        guard let written = WrittenTime(bytes), let separator = written.separator, "Tt ".utf8.contains(separator),
            let offset = written.zone.elementsEqual(" Etc/GMT".utf8) ? 0 : written.offset
        else { return nil }
        // The year 0 and what an offset leads out of the calendar are no dates.
        self.init(millisecondsSince1970: (written.seconds - offset) * 1_000 + written.microseconds / 1_000)
    }
}

extension AppleTimestamp {
    /// What Xcode writes for an end that never comes: `Date.distantFuture`, the first day of the year 4001.
    private static let never: Int64 = 64_092_211_200_000

    /// In no more microseconds than 64 bits hold: no year is after 9999.
    private var microseconds: Int64 { millisecondsSince1970 * 1_000 }

    /// Nil before 1970, and for its first moment, which is how "none" is written.
    var moment: Timestamp? { microseconds > 0 ? Timestamp(datable: microseconds) : nil }

    /// The same of an end: nil for one that never comes. One before 1970 is over.
    var end: Timestamp? {
        guard millisecondsSince1970 < Self.never else { return nil }
        return Timestamp(datable: max(microseconds, 0))
    }
}

extension AppleEnvironment {
    /// One name for each environment, however the store spells it in this kind of document: `Production`, `Sandbox`, `Xcode`,
    /// `LocalTesting`; one that is not known keeps its own.
    public var name: StoreEnvironment {
        switch kind {
        case .production: .production
        case .sandbox: .sandbox
        case .xcode: "Xcode"
        case .localTesting: "LocalTesting"
        case .unknown: StoreEnvironment(raw)
        }
    }
}
