import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Manages one connection: detects that a client left its held poll, ends requests that arrive too slowly, and ends
/// connections whose answers are not read. Closes after an answer with `Connection: close`. Adds a problem body to the
/// parser's own errors.
///
/// Sits between the HTTP codec and Hummingbird's state handler. That handler's idle time-out covers the time between
/// requests and the arrival of a request's head.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    let watch = ConnectionWatch()
    private let limits: ConnectionLimits
    private var isReadingRequest = false
    private var requestsInProgress = 0
    private var bodyBytes = 0
    private var bodyDeadline: Scheduled<Void>?
    private var writeDeadline: Scheduled<Void>?
    private var finalDeadline: Scheduled<Void>?
    private var parserProblem: Problem?
    private var isQuiescing = false
    private var closesAfterAnswer = false
    private var isLingering = false
    private var date = DateHeader()

    init(limits: ConnectionLimits) {
        self.limits = limits
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if isLingering { return discard(part, context) }
        switch part {
        case .head(let head):
            isReadingRequest = true
            requestsInProgress += 1
            bodyBytes = 0
            answerExpectation(of: head, context)
        case .body(let part):
            bodyBytes += part.readableBytes
            if requestsInProgress == 0, bodyBytes > limits.bodyBytes {
                // The answer was sent long ago, and the client still sends.
                return context.close(promise: nil)
            }
        case .end:
            isReadingRequest = false
            bodyDeadline?.cancel()
            bodyDeadline = nil
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most requests arrive whole and need no timer.
        if isReadingRequest, bodyDeadline == nil, !isLingering {
            bodyDeadline = after(isQuiescing ? limits.farewellTime : limits.bodyTime, context) { handler, context in
                context.fireErrorCaught(RequestTimedOut())
                handler.close(after: handler.limits.farewellTime, context)
            }
        }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            if watch.clientLeft() { context.close(promise: nil) }
        case is ChannelShouldQuiesceEvent:
            isQuiescing = true
            bodyDeadline?.cancel()
            bodyDeadline = nil
            channelReadComplete(context: context)
            close(after: limits.shutdownTime, context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        _ = watch.clientLeft()
        for deadline in [bodyDeadline, writeDeadline, finalDeadline] { deadline?.cancel() }
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeDeadline?.cancel()
        writeDeadline = nil
        if !context.channel.isWritable {
            writeDeadline = after(isQuiescing ? limits.farewellTime : limits.writeTime, context) { _, context in
                context.close(promise: nil)
            }
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isLingering else { return }
        switch error {
        case HTTPParserError.headerOverflow:
            parserProblem = Problem(.headersTooLarge, "send fewer or shorter header fields")
            context.fireErrorCaught(error)
        case is HTTPParserError:
            parserProblem = Problem(.badRequest, "this is not HTTP/1.1")
            context.fireErrorCaught(error)
        case let problem as Problem:
            // Fired by VersionHandler.
            parserProblem = problem
            context.fireErrorCaught(HTTPParserError.unknown)
        case is ChannelError, is IOError: context.fireErrorCaught(error)
        default:
            // The codec refused a well-formed but invalid head. A parser error makes RequestHandler answer it.
            parserProblem = Problem(.badRequest, "the request line or a header field cannot be")
            context.fireErrorCaught(HTTPParserError.unknown)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status == .badRequest && head.headerFields[.contentType] == nil:
            // RequestHandler answers a parser error without a body.
            writeHead((parserProblem ?? Problem(.badRequest, "this is not HTTP/1.1")).unroutedAnswer, context, promise)
        case .head(var head):
            head.headerFields[.date] = date.now()
            if isQuiescing { head.headerFields[.connection] = "close" }
            closesAfterAnswer = head.headerFields.closesConnection
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            requestsInProgress -= 1
            guard closesAfterAnswer, !isLingering else { return context.write(data, promise: promise) }
            linger(after: data, context, promise)
        }
    }

    /// Reads and drops a limited rest of a request, so that the client can read the answer: see ``linger(after:_:_:)``.
    private func discard(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        guard case .body(let bytes) = part else { return }
        bodyBytes += bytes.readableBytes
        if bodyBytes > limits.bodyBytes * 4 { context.close(promise: nil) }
    }

    private func writeHead(
        _ response: (head: HTTPResponse, body: ByteBuffer), _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>?
    ) {
        closesAfterAnswer = true
        var head = response.head
        head.headerFields[.date] = date.now()
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        context.write(wrapOutboundOut(.body(response.body)), promise: nil)
    }

    /// Closes the output after the answer, and the whole connection when the client has had time to read it. Closing at
    /// once with unread request bytes in the socket would reset the connection and lose the answer.
    private func linger(after data: NIOAny, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        isLingering = true
        context.writeAndFlush(data, promise: promise)
        context.close(mode: .output, promise: nil)
        close(after: limits.lingerTime, context)
    }

    /// Sends `100 Continue` if the client waits for it before its body (RFC 9110 section 10.1.1).
    private func answerExpectation(of head: HTTPRequest, _ context: ChannelHandlerContext) {
        guard requestsInProgress == 1, head.headerFields[.expect]?.lowercased() == "100-continue" else { return }
        if let length = head.headerFields[.contentLength].flatMap({ Int($0) }), length > limits.bodyBytes { return }
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    private func close(after time: TimeAmount, _ context: ChannelHandlerContext) {
        finalDeadline?.cancel()
        finalDeadline = after(time, context) { _, context in context.close(promise: nil) }
    }

    private func after(
        _ time: TimeAmount, _ context: ChannelHandlerContext,
        _ action: @escaping (ConnectionHandler, ChannelHandlerContext) -> Void
    ) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: time) { action(self, context) }
    }
}

@available(*, unavailable)
extension ConnectionHandler: Sendable {}

extension Problem {
    fileprivate var unroutedAnswer: (head: HTTPResponse, body: ByteBuffer) {
        let body = body
        return (
            HTTPResponse(
                status: status,
                headerFields: [
                    .contentType: Self.contentType, .contentLength: String(body.readableBytes), .connection: "close",
                    .xRequestID: RequestID.make(),
                ]),
            body
        )
    }
}

/// A request's body did not arrive within its time.
struct RequestTimedOut: Error {}

/// Limits of one connection.
struct ConnectionLimits: Sendable {
    /// Time between requests, and for a request's head.
    var idleTime: Duration
    /// Time between the end of a request's head and the end of its body.
    var bodyTime: TimeAmount
    /// How long a client may leave its answers unread.
    var writeTime: TimeAmount
    /// Both times during shutdown.
    var farewellTime = TimeAmount.seconds(2)
    /// Time after the start of the shutdown at which remaining connections are cut.
    var shutdownTime = TimeAmount.seconds(8)
    /// Time for the client to read the last answer before a connection with an unfinished request is closed.
    var lingerTime = TimeAmount.seconds(3)
    /// Bytes of a request's body that are read after its answer before the connection is closed.
    var bodyBytes: Int
}
