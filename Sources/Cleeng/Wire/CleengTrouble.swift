/// Why a call to Cleeng told us nothing, so that it has to be made again.
public struct CleengTrouble: Error, Hashable, CustomStringConvertible {
    private enum Code: String {
        case timeout, cancelled, throttled, conflict, unreadable
        case connectionFailed = "connection_failed"
        case connectionClosed = "connection_closed"
        case responseTooLarge = "response_too_large"
        case requestTimeout = "request_timeout"
        case upstreamError = "upstream_error"
        case unexpectedStatus = "unexpected_status"
        case customerToken = "customer_token"
        case remoteProcedure = "remote_procedure"
    }

    private let code: Code

    /// One of about a dozen words: fit for a metric's label.
    public var shortDescription: String { code.rawValue }
    public var description: String { code.rawValue }

    /// The deadline of the call passed.
    public static let timeout = Self(code: .timeout)
    /// Our own task was cancelled, as in a shutdown.
    public static let cancelled = Self(code: .cancelled)
    /// No connection could be made: refused, unresolved, or no TLS.
    public static let connectionFailed = Self(code: .connectionFailed)
    /// The connection ended before the answer did.
    public static let connectionClosed = Self(code: .connectionClosed)
    /// The answer's body is larger than ``CleengConfiguration/maxResponseBytes``.
    public static let responseTooLarge = Self(code: .responseTooLarge)
    /// The answer is not what Cleeng's documentation describes.
    public static let unreadable = Self(code: .unreadable)
    /// 429.
    public static let throttled = Self(code: .throttled)
    /// 408.
    public static let requestTimeout = Self(code: .requestTimeout)
    /// 409 and 425: something else has to end first.
    public static let conflict = Self(code: .conflict)
    /// 5xx.
    public static let upstreamError = Self(code: .upstreamError)
    /// A status that nobody foresaw.
    public static let unexpectedStatus = Self(code: .unexpectedStatus)
    /// A customer token was refused, and a fresh one as well.
    public static let customerToken = Self(code: .customerToken)
    /// A JSON-RPC error that is neither our configuration nor an unknown customer.
    public static let remoteProcedure = Self(code: .remoteProcedure)
}
