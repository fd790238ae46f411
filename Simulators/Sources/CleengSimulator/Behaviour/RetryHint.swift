/// How a 429 says when to come back (RFC 9110 section 10.2.3).
enum RetryHint: String, Sendable {
    /// `Retry-After: 1`.
    case seconds
    /// `Retry-After` with an HTTP date, one to two seconds ahead.
    case date
    /// No `Retry-After` at all.
    case bare
}
