import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Sets up a client's connection: HTTP/1.1 and HTTP/1.0, its limits, and the handler that answers its requests.
struct FrontChannel: ServerChildChannel {
    struct Connection: ServerChildChannelValue {
        let channel: any Channel
        /// Succeeds when the connection is closed and no request of it is in progress.
        let end: EventLoopFuture<Void>
    }

    let responder: FrontResponder
    let limits: ConnectionLimits

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        // A connection keeps its last read buffer. Most requests are small, and the buffer grows for larger ones.
        let buffers = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536)
        return channel.setOption(.recvAllocator, value: buffers).flatMapThrowing {
            let end = channel.eventLoop.makePromise(of: Void.self)
            do {
                try addHandlers(to: channel.pipeline.syncOperations, on: channel.eventLoop, end, logger)
            } catch {
                end.fail(error)
                throw error
            }
            return Connection(channel: channel, end: end.futureResult)
        }
    }

    private func addHandlers(
        to pipeline: ChannelPipeline.SynchronousOperations, on loop: any EventLoop, _ end: EventLoopPromise<Void>,
        _ logger: Logger
    ) throws {
        var decoderLimits = NIOHTTPDecoderLimitConfiguration()
        // A selection of fifty rows is in the target of a request.
        decoderLimits.maxHeaderFieldSize = 48 << 10
        decoderLimits.maxHeaderListSize = 48 << 10
        decoderLimits.maxHeaderFieldCount = 100
        // The handlers below check pipelining, errors and header fields.
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoderLimits)
        try pipeline.addHandler(VersionHandler())
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try pipeline.addHandler(ConnectionHandler(limits: limits))
        try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: limits.idleTime, logger: logger))
        try pipeline.addHandler(RequestHandler(responder, executor: .of(loop), end: end))
    }

    func handle(value: Connection, logger: Logger) async {
        await withTaskCancellationHandler {
            try? await value.end.get()
        } onCancel: {
            value.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }
}
