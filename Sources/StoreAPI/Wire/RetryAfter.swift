package import NIOHTTP1
package import RelayCore

/// How long a store asks us to stay away.
package enum RetryAfter {
    /// The `Retry-After` header, in seconds or as a date, within a second and an hour; nil where there is none to be read. A date
    /// is taken relative to the answer's own.
    package static func duration(in headers: HTTPHeaders, at now: Timestamp) -> Duration? {
        guard let text = headers.first(name: "Retry-After"), text.utf8.count <= 64 else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return clamped(Int64(text) ?? .max) }
        guard let until = date(text) else { return nil }
        let from = headers.first(name: "Date").flatMap(date) ?? now
        return clamped((until - from).components.seconds)
    }

    private static func clamped(_ seconds: Int64) -> Duration { .seconds(min(max(seconds, 1), 3_600)) }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The one form that is still written: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> Timestamp? {
        let fields = text.split(separator: " ")
        guard fields.count == 6, fields[5] == "GMT", let month = months.firstIndex(of: String(fields[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(fields[3])-\(number)-\(fields[1])T\(fields[4])Z")
    }
}
