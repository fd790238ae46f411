package import OutboundHTTP

/// Why a call to Cleeng has no usable answer and is retried. Timelines and metrics show the raw values, which are few.
public enum CleengTrouble: String, Error, Sendable, CustomStringConvertible {
    /// The deadline of the call passed.
    case timeout
    /// The relay cancelled its own task, as in a shutdown.
    case cancelled
    /// No connection could be made: refused, unresolved, or no TLS.
    case connectionFailed = "connection_failed"
    /// The connection ended before the answer did.
    case connectionClosed = "connection_closed"
    /// The answer's body is larger than ``CleengConfiguration/maxResponseBytes``.
    case responseTooLarge = "response_too_large"
    /// The answer, or a part of it that counts, is not what Cleeng's documentation describes.
    case unreadable
    /// The list of entitlements ends before its stated total, or is longer than the relay reads.
    case incomplete
    /// The entitlement has a status that Cleeng's documentation does not name.
    case unknownStatus = "unknown_status"
    /// 429.
    case throttled
    /// 408.
    case requestTimeout = "request_timeout"
    /// 409 and 425: another request must end first.
    case conflict
    /// 5xx.
    case upstreamError = "upstream_error"
    /// Any other status without a meaning for the relay.
    case unexpectedStatus = "unexpected_status"
    /// Cleeng refused a customer token, and then a new one as well.
    case customerToken = "customer_token"
    /// A JSON-RPC error other than a configuration error or an unknown customer.
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
