import NIOCore
import NIOHTTP1

/// Sends requests one after another and completes each with its answer.
final class ExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Exchange
    typealias OutboundOut = HTTPClientRequestPart

    private var waiting: CircularBuffer<EventLoopPromise<Answer>> = []
    private var status: UInt = 0
    private var body: ByteBuffer?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let exchange = Self.unwrapOutboundIn(data)
        waiting.append(exchange.answer)
        context.write(Self.wrapOutboundOut(.head(exchange.head)), promise: nil)
        if let body = exchange.body { context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        context.write(Self.wrapOutboundOut(.end(nil)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            status = head.status.code
            body = nil
        case .body(var part):
            if body == nil { body = part } else { body?.writeBuffer(&part) }
        case .end:
            // An interim answer (1xx) precedes the final one.
            guard status >= 200 else { return }
            let text = body.map { String(buffer: $0) } ?? ""
            waiting.popFirst()?.succeed(Answer(status: status, body: text, at: microsecondsNow()))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        failAll(ConnectionLost())
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failAll(error)
        context.close(promise: nil)
    }

    private func failAll(_ error: any Error) {
        while let promise = waiting.popFirst() { promise.fail(error) }
    }
}
