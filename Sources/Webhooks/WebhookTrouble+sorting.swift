import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix

extension WebhookTrouble {
    /// Sorts what the HTTP client throws. Only the kind is kept: some of its errors hold header values.
    init(_ error: any Error) {
        switch error {
        case let trouble as WebhookTrouble: self = trouble
        case is CancellationError: self.init(.cancelled)
        case let error as HTTPParserError: self.init(error == .invalidEOFState ? .connectionClosed : .unreadable)
        case let error as HTTPClientError:
            switch error {
            case .cancelled, .requestStreamCancelled: self.init(.cancelled)
            case .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout,
                .getConnectionFromPoolTimeout:
                self.init(.timeout)
            case .remoteConnectionClosed, .uncleanShutdown: self.init(.connectionClosed)
            default: self.init(.connectionFailed)
            }
        case let error as IOError where [ECONNRESET, EPIPE, ENOTCONN].contains(error.errnoCode):
            self.init(.connectionClosed)
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.outputClosed, ChannelError.eof:
            self.init(.connectionClosed)
        case is IOError, is NIOConnectionError, is ChannelError: self.init(.connectionFailed)
        // What is left comes of the TLS library.
        default: self.init("\(type(of: error))".contains("SSL") ? .tls : .connectionFailed)
        }
    }
}
