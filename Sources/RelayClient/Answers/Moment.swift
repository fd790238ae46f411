import Foundation

/// `2026-11-20T10:00:00.000Z`, the fraction being optional.
enum Moment {
    static func parse(_ text: String) -> Date? {
        (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
            ?? (try? Date.ISO8601FormatStyle().parse(text))
    }
}
