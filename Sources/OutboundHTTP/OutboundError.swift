import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Why a request got no answer, or not all of it. The words are fit for metrics and logs: the HTTP client's own errors may hold
/// addresses and header values.
public enum OutboundError: String, Error, Sendable, CaseIterable {
    /// The deadline passed, or that of a part: name lookup, connection, TLS handshake, wait for a pooled connection.
    case timeout
    /// Our own task was cancelled, as in a shutdown.
    case cancelled
    /// No connection could be made: refused, unreachable or unresolved.
    case connectionFailed = "connection_failed"
    /// The connection ended before the answer did.
    case connectionClosed = "connection_closed"
    /// No TLS connection could be made.
    case tls
    case responseTooLarge = "response_too_large"
    /// The answer is not HTTP.
    case unreadable

    /// - Parameter afterHead: whether the head of the answer had arrived.
    package init(_ error: any Error, afterHead: Bool) {
        switch error {
        case let error as OutboundError: self = error
        case is CancellationError: self = .cancelled
        case let error as HTTPParserError: self = error == .invalidEOFState ? .connectionClosed : .unreadable
        case let error as HTTPClientError: self.init(error, afterHead: afterHead)
        // The other side was gone while we still sent.
        case let error as IOError where [ECONNRESET, EPIPE, ENOTCONN].contains(error.errnoCode):
            self = .connectionClosed
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.outputClosed, ChannelError.eof,
            NIOSSLError.uncleanShutdown:
            self = .connectionClosed
        case ChannelError.connectTimeout: self = .timeout
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self = afterHead ? .connectionClosed : .tls
        default: self = afterHead ? .connectionClosed : .connectionFailed
        }
    }

    private init(_ error: HTTPClientError, afterHead: Bool) {
        switch error {
        case .cancelled, .requestStreamCancelled: self = .cancelled
        case .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout,
            .getConnectionFromPoolTimeout:
            self = .timeout
        case .remoteConnectionClosed, .uncleanShutdown: self = .connectionClosed
        default: self = afterHead ? .connectionClosed : .connectionFailed
        }
    }
}
