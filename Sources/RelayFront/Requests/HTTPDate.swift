import Foundation
import RelayCore

/// The time of an answer as `Date` says it (RFC 9110 section 5.6.7), made once a second. Used by one connection.
struct HTTPDate {
    private var second = Int.min
    private var text = ""

    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    mutating func now() -> String {
        let now = time(nil)
        if now != second {
            second = now
            text = Self.text(of: now)
        }
        return text
    }

    /// - Parameter seconds: since 1970.
    static func text(of seconds: Int) -> String {
        let (days, inDay) = (seconds / 86_400, seconds % 86_400)
        let (year, month, day) = Timestamp.civil(fromDays: Int64(days))
        func two(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = "\(two(inDay / 3_600)):\(two(inDay / 60 % 60)):\(two(inDay % 60))"
        return "\(weekdays[days % 7]), \(two(day)) \(months[Int(month) - 1]) \(year) \(clock) GMT"
    }
}
