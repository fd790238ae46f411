import RelayCore

/// How long an endpoint asks to be left alone: seconds, or a date of HTTP's preferred form (RFC 9110, sections 10.2.3 and 5.6.7).
enum RetryAfterHeader {
    private static let longest: Int64 = 86_400
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Nil for what cannot be read. A day at most.
    static func duration(_ text: String?, now: Timestamp) -> Duration? {
        guard let text, text.utf8.count <= 64 else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int64(text) ?? longest, longest))
        }
        guard let moment = date(text) else { return nil }
        return min(max(moment - now, .zero), .seconds(longest))
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func date(_ text: String) -> Timestamp? {
        let fields = text.split(separator: " ")
        guard fields.count == 6, fields[5] == "GMT", let month = months.firstIndex(of: String(fields[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(fields[3])-\(number)-\(fields[1])T\(fields[4])Z")
    }
}
