import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OutboundHTTP
import Testing

/// The ``OutboundError`` of each error of the HTTP client, the sockets and TLS.
struct OutboundErrorTests {
    private struct Unknown: Error {}

    @Test(arguments: [
        HTTPClientError.deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout,
        .getConnectionFromPoolTimeout,
    ])
    func timeouts(error: HTTPClientError) {
        #expect(OutboundError(error, afterHead: false) == .timeout && OutboundError(error, afterHead: true) == .timeout)
    }

    @Test func cancellations() {
        for error in [CancellationError(), HTTPClientError.cancelled, HTTPClientError.requestStreamCancelled]
            as [any Error]
        {
            #expect(OutboundError(error, afterHead: false) == .cancelled)
            #expect(OutboundError(error, afterHead: true) == .cancelled)
        }
    }

    @Test func connectionsThatEnd() {
        let errors: [any Error] = [
            HTTPClientError.remoteConnectionClosed, HTTPClientError.uncleanShutdown, HTTPParserError.invalidEOFState,
            IOError(errnoCode: ECONNRESET, reason: ""), IOError(errnoCode: EPIPE, reason: ""),
            IOError(errnoCode: ENOTCONN, reason: ""), ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed,
            ChannelError.outputClosed, ChannelError.eof, NIOSSLError.uncleanShutdown,
        ]
        for error in errors { #expect(OutboundError(error, afterHead: false) == .connectionClosed, "\(error)") }
    }

    @Test func connectionsThatCannotBeMade() {
        let errors: [any Error] = [
            IOError(errnoCode: ECONNREFUSED, reason: ""), ChannelError.connectPending, HTTPClientError.emptyHost,
            Unknown(),
        ]
        for error in errors {
            #expect(OutboundError(error, afterHead: false) == .connectionFailed, "\(error)")
            #expect(OutboundError(error, afterHead: true) == .connectionClosed, "\(error)")
        }
    }

    @Test func theRest() {
        #expect(OutboundError(NIOSSLError.unableToValidateCertificate, afterHead: false) == .tls)
        #expect(OutboundError(NIOSSLExtraError.failedToValidateHostname, afterHead: false) == .tls)
        #expect(OutboundError(HTTPParserError.invalidConstant, afterHead: false) == .unreadable)
        #expect(OutboundError(OutboundError.responseTooLarge, afterHead: true) == .responseTooLarge)
    }

    @Test func theWordsStay() {
        #expect(
            OutboundError.allCases.map(\.rawValue) == [
                "timeout", "cancelled", "connection_failed", "connection_closed", "tls", "response_too_large",
                "unreadable",
            ])
    }
}
