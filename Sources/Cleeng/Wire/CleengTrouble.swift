import OutboundHTTP

/// Why a call to Cleeng has no usable answer and is retried. Timelines and metrics show the raw values, which are about 15.
public enum CleengTrouble: String, Error, Sendable, CustomStringConvertible {
    /// The deadline of the call passed.
    case timeout
    /// Our own task was cancelled, as in a shutdown.
    case cancelled
    /// No connection could be made: refused, unresolved, or no TLS.
    case connectionFailed = "connection_failed"
    /// The connection ended before the answer did.
    case connectionClosed = "connection_closed"
    /// The answer's body is larger than ``CleengConfiguration/maxResponseBytes``.
    case responseTooLarge = "response_too_large"
    /// The answer, or a part of it that counts, is not what Cleeng's documentation describes.
    case unreadable
    /// The list of entitlements ends before its own total, or is longer than we read.
    case incomplete
    /// The status of the entitlement is none that Cleeng's documentation names.
    case unknownStatus = "unknown_status"
    /// 429.
    case throttled
    /// 408.
    case requestTimeout = "request_timeout"
    /// 409 and 425: something else has to end first.
    case conflict
    /// 5xx.
    case upstreamError = "upstream_error"
    /// A status that nobody foresaw.
    case unexpectedStatus = "unexpected_status"
    /// A customer token was refused, and a fresh one as well.
    case customerToken = "customer_token"
    /// A JSON-RPC error that is neither our configuration nor an unknown customer.
    case remoteProcedure = "remote_procedure"

    public var description: String { rawValue }

    package init(_ error: OutboundError) {
        switch error {
        case .timeout: self = .timeout
        case .cancelled: self = .cancelled
        case .connectionFailed, .tls: self = .connectionFailed
        case .connectionClosed: self = .connectionClosed
        case .responseTooLarge: self = .responseTooLarge
        case .unreadable: self = .unreadable
        }
    }
}
