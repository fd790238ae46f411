import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Why a request got no complete answer. The raw values are safe in metrics and logs. The HTTP client's own errors are
/// not: they may hold addresses and header values.
public enum OutboundError: String, Error, Sendable, CaseIterable {
    /// The deadline passed, or the limit of one step: name lookup, connection, TLS handshake, wait for a pooled
    /// connection.
    case timeout
    /// The relay cancelled its own task, as in a shutdown.
    case cancelled
    /// No connection: refused, unreachable, or the name was not resolved.
    case connectionFailed = "connection_failed"
    /// The connection ended before the answer did.
    case connectionClosed = "connection_closed"
    /// The TLS handshake failed.
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
        // The server closed the connection while the request was being sent.
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
