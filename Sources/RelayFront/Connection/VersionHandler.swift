import HTTPTypes
import NIOCore
import NIOHTTP1
import RelayCore

/// Applies the rules of HTTP/1.0 and HTTP/1.1 that NIO's codecs leave to a server (RFC 9112): how often `Host` is named, which
/// connections are kept, and that no chunks go to a client of HTTP/1.0.
///
/// Stands before the codec that converts to `HTTPTypes`: behind it no request has a version.
final class VersionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var requests = 0
    private var answers = 0
    /// Numbers of the requests of HTTP/1.0 that are not answered yet.
    private var oldRequests = CircularBuffer<Int>(initialCapacity: 0)
    /// The connection ends with the refusal of a request. Nothing behind that is read.
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
            // RFC 9110 section 10.1.1: such a client knows no 100.
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
            // The encoder sends chunks by this version.
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

    /// An answer without a length ends with its connection.
    private static func asksForStream(_ head: HTTPRequestHead) -> Bool {
        head.headers["Accept"].contains { AcceptHeader.wantsEventStream($0) }
    }
}

@available(*, unavailable)
extension VersionHandler: Sendable {}

extension HTTPFields {
    /// Whether the connection ends with the answer. Of a request ``VersionHandler`` has written it in this form.
    var closesConnection: Bool { self[.connection]?.isSame("close") == true }
}
