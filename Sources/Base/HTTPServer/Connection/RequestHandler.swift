import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Answers a connection's requests, one after the other, on the connection's event loop.
///
/// A request goes to its route when it has arrived whole. If it takes more than one read, it goes at the end of the
/// first read, with a stream for its body. Pipelined requests wait here. While too many parts wait, the connection is
/// not read.
///
/// No request starts while the client leaves too many answers unread: the answers would fill the process's memory.
final class RequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = Never
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Number of waiting parts of pipelined requests above which the connection is not read.
    private static let mostWaiting = 8

    private let responder: FrontResponder
    let executor: LoopExecutor
    private let end: EventLoopPromise<Void>
    private var context: ChannelHandlerContext?
    /// The request that is being read and has no route yet, and the part of its body that has arrived.
    private var head: HTTPRequest?
    private var body: ByteBuffer?
    /// The body of a request whose route started before it had arrived whole.
    private var incoming: IncomingBody?
    private var isAnswering = false
    /// Whether no further request is accepted.
    private var isLast = false
    private var waiting = CircularBuffer<HTTPRequestPart>(initialCapacity: 0)
    /// Set if the input ended while parts were waiting: the error, or an inner `nil` if the client ended it.
    private var inputEnd: (any Error)??
    private var isReadHeld = false
    private var needsFlush = false
    private var writer: CheckedContinuation<Void, any Error>?

    /// - Parameter end: succeeds when the connection is closed and no request of it is in progress.
    init(_ responder: FrontResponder, executor: LoopExecutor, end: EventLoopPromise<Void>) {
        self.responder = responder
        self.executor = executor
        self.end = end
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        head = nil
        waiting.removeAll()
        // The connection is gone, so no answer can be sent.
        incoming?.finish(throwing: HTTPParserError.invalidEOFState)
        incoming = nil
        writer.take()?.resume(throwing: ChannelError.ioOnClosedChannel)
        if !isAnswering { end.succeed() }
    }

    // MARK: Input

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if waiting.isEmpty, canTake(context) { take(part, context) } else { waiting.append(part) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        beginUnfinished(context)
        flush(context)
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if isFull { isReadHeld = true } else { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { inputEnded(nil, context) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPParserError, is RequestTimedOut: inputEnded(error, context)
        default: context.close(promise: nil)
        }
    }

    /// Whether a part can be processed now. While a request is being answered, only the rest of its own body can. After
    /// a request's head was processed, its other parts can.
    private func canTake(_ context: ChannelHandlerContext) -> Bool {
        incoming != nil || !isAnswering && (head != nil || context.channel.isWritable)
    }

    private var isFull: Bool { waiting.count >= Self.mostWaiting || incoming?.isFull == true }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head): if !isLast { self.head = head }
        case .body(var bytes):
            if let incoming {
                incoming.receive(bytes)
            } else if head != nil, body?.writeBuffer(&bytes) == nil {
                body = bytes
            }
        case .end:
            if let incoming {
                incoming.finish()
                self.incoming = nil
            } else if let head = head.take() {
                begin(head, context)
            }
        }
    }

    private func begin(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
        let body = self.body.take()
        if body == nil, let answer = responder.cached(head, context.channel) {
            write(answer.response)
            if let body = answer.body { write(body) }
            context.write(wrapOutboundOut(.end(nil)), promise: nil)
            needsFlush = true
        } else {
            answer(head, body.map { RequestBody(buffer: $0) } ?? RequestBody(buffer: ByteBuffer()), context)
        }
    }

    private func beginUnfinished(_ context: ChannelHandlerContext) {
        guard let head = head.take() else { return }
        let loop = context.eventLoop
        let handler = NIOLoopBound(self, eventLoop: loop)
        let incoming = IncomingBody(body.take()) { loop.execute { handler.value.readOn() } }
        self.incoming = incoming
        answer(head, RequestBody(asyncSequence: incoming), context)
    }

    private func answer(_ head: HTTPRequest, _ body: RequestBody, _ context: ChannelHandlerContext) {
        isAnswering = true
        isLast = isLast || head.headerFields.closesConnection
        responder.answer(
            Request(head: head, body: body), context.channel, NIOLoopBound(self, eventLoop: context.eventLoop))
    }

    /// - Parameter error: nil if the client ended its input regularly.
    private func inputEnded(_ error: (any Error)?, _ context: ChannelHandlerContext) {
        guard canTake(context) else {
            if inputEnd == nil { inputEnd = .some(error) }
            return
        }
        isLast = true
        beginUnfinished(context)
        incoming?.finish(throwing: error)
        incoming = nil
        guard !isAnswering else { return }
        if error is HTTPParserError { writeRefusal(context) }
        flush(context)
        context.close(mode: .output, promise: nil)
    }

    private func readOn() {
        guard isReadHeld, !isFull, let context else { return }
        isReadHeld = false
        context.read()
    }

    // MARK: Output

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            writer.take()?.resume()
            takeWaiting(context)
        }
        context.fireChannelWritabilityChanged()
    }

    func write(_ head: HTTPResponse) {
        context?.write(wrapOutboundOut(.head(head)), promise: nil)
    }

    func write(_ body: ByteBuffer) {
        context?.write(wrapOutboundOut(.body(body)), promise: nil)
    }

    /// Sends what was written, and resumes the caller when more may be written.
    func flush(_ continuation: CheckedContinuation<Void, any Error>) {
        guard let context else { return continuation.resume(throwing: ChannelError.ioOnClosedChannel) }
        context.flush()
        if context.channel.isWritable { continuation.resume() } else { writer = continuation }
    }

    func finish(_ trailers: HTTPFields?) {
        context?.write(wrapOutboundOut(.end(trailers)), promise: nil)
        needsFlush = true
        answered()
    }

    /// Ends the connection instead of an answer.
    ///
    /// - Parameter hasBegun: whether the answer's head was written.
    func fail(_ error: any Error, hasBegun: Bool) {
        isLast = true
        if let context {
            if error is HTTPParserError, !hasBegun { writeRefusal(context) } else { context.close(promise: nil) }
        }
        answered()
    }

    /// Writes a bare 400. ``ConnectionHandler`` replaces it by a problem with the details.
    private func writeRefusal(_ context: ChannelHandlerContext) {
        write(HTTPResponse(status: .badRequest))
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func flush(_ context: ChannelHandlerContext) {
        guard needsFlush else { return }
        needsFlush = false
        context.flush()
    }

    /// Drops the rest of the request's body, then processes the next request.
    private func answered() {
        isAnswering = false
        guard let context else { return end.succeed() }
        incoming?.discard()
        takeWaiting(context)
    }

    private func takeWaiting(_ context: ChannelHandlerContext) {
        while canTake(context), let part = waiting.popFirst() { take(part, context) }
        if waiting.isEmpty { beginUnfinished(context) }
        flush(context)
        if isLast, !isAnswering { context.close(mode: .output, promise: nil) }
        if canTake(context), let inputEnd = inputEnd.take() { inputEnded(inputEnd, context) }
        readOn()
    }
}

@available(*, unavailable)
extension RequestHandler: Sendable {}
