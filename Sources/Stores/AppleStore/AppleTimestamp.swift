import Formats
public import RelayCore

/// A moment in milliseconds since 1970-01-01T00:00:00Z, the unit of Apple's signed data; exact, unlike a `Double`.
public struct AppleTimestamp: Sendable, Hashable, Comparable {
    public let millisecondsSince1970: Int64

    /// Years 0001 to 9999: every value can be written as RFC 3339 and stored.
    static let representable: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Nil outside the years 0001 to 9999.
    public init?(millisecondsSince1970: Int64) {
        guard Self.representable.contains(millisecondsSince1970) else { return nil }
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// A number that Apple wrote, rounded down to the millisecond; Xcode writes fractions. Nil if it is not a date.
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
        // Year 0 and offsets that lead out of the calendar are rejected.
        self.init(millisecondsSince1970: (written.seconds - offset) * 1_000 + written.microseconds / 1_000)
    }
}

extension AppleTimestamp {
    /// Xcode's value for an end that never comes: `Date.distantFuture`, the first day of the year 4001.
    private static let never: Int64 = 64_092_211_200_000

    /// Cannot overflow: no year is after 9999.
    private var microseconds: Int64 { millisecondsSince1970 * 1_000 }

    /// Nil at or before the start of 1970, which means "none".
    var moment: Timestamp? { microseconds > 0 ? Timestamp(datable: microseconds) : nil }

    /// The time as an end: nil if the end never comes. An end before 1970 is a time in the past, not "none".
    var end: Timestamp? {
        guard millisecondsSince1970 < Self.never else { return nil }
        return Timestamp(datable: max(microseconds, 0))
    }
}

extension AppleEnvironment {
    /// One name for each environment, however a document spells it: `Production`, `Sandbox`, `Xcode`, `LocalTesting`.
    /// An unknown one keeps its own name.
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
