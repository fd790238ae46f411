import Formats

/// A moment, in microseconds since 1970-01-01T00:00:00Z. PostgreSQL has the same resolution, so a stored value reads
/// back unchanged.
public struct Timestamp: Hashable, Comparable, Sendable {
    public var microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Clamps seconds that do not fit into 64 bits of microseconds.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        self.microseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }

    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(microseconds: moment.microseconds.addingSaturating(duration.microseconds))
    }

    public static func - (moment: Timestamp, duration: Duration) -> Timestamp {
        moment + (.zero - duration)
    }

    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        let (difference, overflow) = later.microseconds.subtractingReportingOverflow(earlier.microseconds)
        return .microseconds(overflow ? (later < earlier ? .min : .max) : difference)
    }

    /// Earlier than every other moment.
    public static let earliest = Timestamp(microseconds: .min)
    /// Later than every other moment.
    package static let distantFuture = Timestamp(microseconds: .max)

    /// Whole seconds since 1970, rounded down.
    public var secondsSince1970: Int64 { microseconds.floorDivided(by: 1_000_000) }

    /// The moment rounded down to a whole second.
    public var wholeSeconds: Timestamp { Timestamp(seconds: secondsSince1970) }

    /// Whole days since 1970-01-01, in UTC.
    public var daysSince1970: Int {
        Int(microseconds.floorDivided(by: 86_400_000_000))
    }
}

/// Codes as the bare number.
extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }
}

extension Timestamp {
    /// `2026-11-20T10:00:00.000Z`: UTC, always three decimals.
    public var rfc3339: String { RFC3339.text(millisecondsSince1970: millisecondsSince1970) }

    /// Rounds down.
    public var millisecondsSince1970: Int64 { microseconds.floorDivided(by: 1_000) }

    /// Reads `2026-11-20T10:00:00Z`, with up to six decimals, or a date alone as its first moment. Always UTC; nil
    /// outside of ``datable``.
    public init?(rfc3339 text: some StringProtocol) {
        guard let written = WrittenTime(Array(text.utf8.prefix(64))[...]) else { return nil }
        if let separator = written.separator {
            guard separator == UInt8(ascii: "T"), !written.isLeapSecond, written.fractionDigits <= 6,
                written.zone.elementsEqual("Z".utf8)
            else { return nil }
        }
        self.init(datable: written.seconds * 1_000_000 + written.microseconds)
    }
}

extension Timestamp {
    /// Text with seven decimals, as .NET writes it: `2026-01-02T03:04:05.1234560Z`. Clamps to the years 0 to 9999.
    public var sevenDecimals: String {
        // 0000-01-01 and 9999-12-31.
        let bounded = min(max(microseconds, -62_167_219_200_000_000), 253_402_300_799_999_999)
        let second = bounded.floorDivided(by: 1_000_000)
        let rest = bounded - second * 1_000_000
        let digits = String(rest * 10)
        let fraction = String(repeating: "0", count: 7 - digits.utf8.count) + digits
        return "\(Timestamp(seconds: second).rfc3339.prefix(19)).\(fraction)Z"
    }
}
