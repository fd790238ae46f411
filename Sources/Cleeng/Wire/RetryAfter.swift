import NIOHTTP1

/// How long a server asks us to stay away.
enum RetryAfter {
    private static let shortest: Int64 = 1
    private static let longest: Int64 = 3600

    /// The `Retry-After` header in either of its forms, within 1 s and 1 h; nil where there is none that can be read.
    ///
    /// A date is taken relative to the server's own `Date`, so that a clock of ours that is wrong does no harm.
    ///
    /// - Parameter now: our own clock, in seconds since 1970, for answers without a `Date`.
    static func duration(in headers: HTTPHeaders, now: () -> Int64) -> Duration? {
        guard let text = headers.first(name: "Retry-After") else { return nil }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        if isNumber {
            return clamped(Int64(text) ?? longest)
        }
        guard let until = HTTPDate.seconds(text) else { return nil }
        let from = headers.first(name: "Date").flatMap(HTTPDate.seconds) ?? now()
        return clamped(until - from)
    }

    private static func clamped(_ seconds: Int64) -> Duration {
        .seconds(min(max(seconds, shortest), longest))
    }
}
