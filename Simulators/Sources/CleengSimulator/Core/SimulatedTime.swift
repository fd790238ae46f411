import Foundation

/// A point in time, in whole microseconds since 1970-01-01 UTC.
///
/// Microseconds, because two forwards that follow each other within a millisecond must not look as if they overlapped.
struct SimulatedTime: Hashable, Comparable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z.
    var microseconds: Int64

    /// Seconds since 1970, rounded down, as Cleeng writes `expiresAt`.
    var unixSeconds: Int64 { microseconds / 1_000_000 }

    /// `2026-11-20T10:00:00.000Z`.
    var iso8601: String {
        // The fraction is formatted by hand: as a floating-point number it would often be a millisecond short.
        let whole = Date(timeIntervalSince1970: Double(unixSeconds)).formatted(Date.ISO8601FormatStyle())
        let fraction = String(microseconds / 1_000 % 1_000 + 1_000).dropFirst()
        return "\(whole.dropLast()).\(fraction)Z"
    }

    /// `2026-11-20T11:00:00+01:00`: like Cleeng's, with an offset that is not zero, so that clients must handle it.
    var iso8601WithOffset: String {
        let shifted = Date(timeIntervalSince1970: Double(unixSeconds + 3_600))
        return "\(shifted.formatted(Date.ISO8601FormatStyle()).dropLast())+01:00"
    }

    /// Parses the form of ``iso8601`` (with or without fractional seconds), or milliseconds since 1970 as digits.
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

    /// Exact in both directions: a Date in these centuries has a resolution of a quarter of a microsecond.
    init(_ date: Date) {
        self.init(microseconds: Int64((date.timeIntervalSince1970 * 1_000_000).rounded()))
    }

    var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    init(unixSeconds: Int64) {
        self.init(microseconds: unixSeconds * 1_000_000)
    }

    func adding(milliseconds: Int64) -> SimulatedTime {
        SimulatedTime(microseconds: microseconds + milliseconds * 1_000)
    }

    func milliseconds(since earlier: SimulatedTime) -> Int64 {
        (microseconds - earlier.microseconds) / 1_000
    }

    static func < (left: SimulatedTime, right: SimulatedTime) -> Bool { left.microseconds < right.microseconds }
}

/// A clock that is passed in, so that tests control the time.
struct SimulatorClock: Sendable {
    /// The current time; never earlier than before.
    let now: @Sendable () -> SimulatedTime

    /// Wall time at the start plus monotonic time since then. A step of the wall clock must neither delay a grant nor
    /// make two forwards look overlapping.
    static func system() -> SimulatorClock {
        let wallAtStart = Int64(Date().timeIntervalSince1970 * 1_000_000)
        let start = ContinuousClock.now
        return SimulatorClock {
            let elapsed = (ContinuousClock.now - start).components
            let microseconds = elapsed.seconds * 1_000_000 + elapsed.attoseconds / 1_000_000_000_000
            return SimulatedTime(microseconds: wallAtStart + microseconds)
        }
    }
}
