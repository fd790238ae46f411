import Foundation

/// A point in time, in whole microseconds since 1970-01-01 UTC.
///
/// Microseconds, because two forwards that follow each other within a millisecond must not look as if they overlapped.
struct Moment: Hashable, Comparable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z.
    var microseconds: Int64

    /// Seconds since 1970, rounded down, as Cleeng writes `expiresAt`.
    var unixSeconds: Int64 { microseconds / 1_000_000 }

    /// `2026-11-20T10:00:00.000Z`.
    var iso8601: String {
        // The fraction by hand: as a floating-point number it would often come out a millisecond short.
        let whole = Date(timeIntervalSince1970: Double(unixSeconds)).formatted(Date.ISO8601FormatStyle())
        let fraction = String(microseconds / 1_000 % 1_000 + 1_000).dropFirst()
        return "\(whole.dropLast()).\(fraction)Z"
    }

    /// `2026-11-20T11:00:00+01:00`: with an offset that is not zero, as Cleeng writes it, so that nobody overlooks it.
    var iso8601WithOffset: String {
        let shifted = Date(timeIntervalSince1970: Double(unixSeconds + 3_600))
        return "\(shifted.formatted(Date.ISO8601FormatStyle()).dropLast())+01:00"
    }

    /// The time as an HTTP date (RFC 9110 section 5.6.7), rounded up to the next whole second, so that a client that
    /// waits for it never comes too early.
    var httpDate: String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let whole = Date(timeIntervalSince1970: (Double(microseconds) / 1_000_000).rounded(.up))
        let parts = calendar.dateComponents([.year, .month, .day, .weekday, .hour, .minute, .second], from: whole)
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        let weekday = Self.weekdays[((parts.weekday ?? 1) - 1) % 7]
        let month = Self.months[((parts.month ?? 1) - 1) % 12]
        let time = "\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second))"
        return "\(weekday), \(two(parts.day)) \(month) \(parts.year ?? 1970) \(time) GMT"
    }

    /// Reads what ``iso8601`` writes (with or without fractional seconds), or milliseconds since 1970 as digits.
    init?(text: String) {
        if let milliseconds = Int64(text), (0...4_102_444_800_000).contains(milliseconds) {
            self.init(microseconds: milliseconds * 1_000)
            return
        }
        let styles = [true, false].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
        guard let date = styles.lazy.compactMap({ try? $0.parse(text) }).first else { return nil }
        let seconds = date.timeIntervalSince1970
        guard (0...4_102_444_800).contains(seconds) else { return nil }
        self.init(microseconds: Int64((seconds * 1_000_000).rounded()))
    }

    init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    init(unixSeconds: Int64) {
        self.init(microseconds: unixSeconds * 1_000_000)
    }

    func adding(milliseconds: Int64) -> Moment {
        Moment(microseconds: microseconds + milliseconds * 1_000)
    }

    func milliseconds(since earlier: Moment) -> Int64 {
        (microseconds - earlier.microseconds) / 1_000
    }

    static func < (left: Moment, right: Moment) -> Bool { left.microseconds < right.microseconds }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
