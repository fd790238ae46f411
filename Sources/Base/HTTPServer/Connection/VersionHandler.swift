import Formats
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Applies the rules of HTTP/1.0 and HTTP/1.1 that NIO's codecs leave to servers (RFC 9112): the number of `Host`
/// fields, which connections stay open, and no chunks for clients of HTTP/1.0.
///
/// Precedes the codec that converts to `HTTPTypes`, since converted requests have no version.
final class VersionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var requests = 0
    private var answers = 0
    /// Numbers of the unanswered HTTP/1.0 requests.
    private var oldRequests = CircularBuffer<Int>(initialCapacity: 0)
    /// Whether a request was refused. The connection ends with that answer, and nothing after it is read.
    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let isOld = head.version.minor == 0
        let hosts = head.headers["Host"].count
        guard hosts == 1 || hosts == 0 && isOld else {
            isRefused = true
            context.fireErrorCaught(Problem(.badRequest, "a request names Host once"))
            return
        }
        if isOld {
            oldRequests.append(requests)
            // RFC 9110 section 10.1.1: an HTTP/1.0 client does not expect a 100.
            head.headers.remove(name: "Expect")
        }
        requests += 1
        let isKept = head.isKeepAlive && !(isOld && Self.asksForStream(head))
        if !isKept { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        context.fireChannelRead(isOld || !isKept ? wrapInboundOut(.head(head)) : data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard oldRequests.first == answers else {
            if case .end = unwrapOutboundIn(data) { answers += 1 }
            return context.write(data, promise: promise)
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // The encoder uses this version to decide on chunks.
            head.version = .http1_0
            if !head.headers.contains(name: "Connection") { head.headers.add(name: "Connection", value: "keep-alive") }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            oldRequests.removeFirst()
            answers += 1
            context.write(data, promise: promise)
        }
    }

    /// Whether the client asks for an event stream. Its answer has no length and ends with the connection.
    private static func asksForStream(_ head: HTTPRequestHead) -> Bool {
        head.headers["Accept"].contains { AcceptHeader.wantsEventStream($0) }
    }
}

@available(*, unavailable)
extension VersionHandler: Sendable {}

extension HTTPFields {
    /// Whether the connection ends with the answer. For requests, ``VersionHandler`` has written the field in this
    /// form.
    var closesConnection: Bool { self[.connection]?.isSame("close") == true }
}
