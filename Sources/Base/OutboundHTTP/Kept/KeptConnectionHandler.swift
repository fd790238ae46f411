import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS

/// Last handler of a connection's pipeline: sends one call at a time and collects its answer.
///
/// One alarm serves the TLS handshake, the deadline of each call and the keep-alive time. It is not moved for each
/// call: an alarm that fires too early is set again for the time that is due.
final class KeptConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private struct Exchange {
        var call: KeptCall
        var answer: IncomingAnswer
        var deadline: NIODeadline
        var attempt = SendAttempt.notWritten
        var isWritten = false
        /// The whole answer has arrived, and the server accepts another request.
        var isAnswered = false
    }

    private let owner: any ConnectionOwner
    private let isEncrypted: Bool
    private let keepAlive: TimeAmount
    private let openUntil: NIODeadline

    private var context: ChannelHandlerContext?
    private var opening: EventLoopPromise<KeptConnection>?
    /// Nil until the connection is open, and after its end.
    private var connection: KeptConnection?
    private var exchange: Exchange?
    private var idleUntil = NIODeadline.distantFuture
    private var isWriting = false
    private var alarm: (at: NIODeadline, task: Scheduled<Void>)?

    /// - Parameter openUntil: deadline for the connection attempt and the TLS handshake.
    init(owner: any ConnectionOwner, isEncrypted: Bool, keepAlive: TimeAmount, openUntil: NIODeadline) {
        self.owner = owner
        self.isEncrypted = isEncrypted
        self.keepAlive = keepAlive
        self.openUntil = openUntil
    }

    // MARK: Opening

    /// The open connection, after its TLS handshake. Nil if the handler is in no pipeline.
    var opened: EventLoopFuture<KeptConnection>? { opening?.futureResult }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        opening = context.eventLoop.makePromise()
        if context.channel.isActive { connected(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        lost()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) { connected(context) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { becomeOpen(context) }
        context.fireUserInboundEventTriggered(event)
    }

    private func connected(_ context: ChannelHandlerContext) {
        if isEncrypted { arm(at: openUntil) } else { becomeOpen(context) }
    }

    private func becomeOpen(_ context: ChannelHandlerContext) {
        guard connection == nil, let opening else { return }
        let connection = KeptConnection(context.channel, self)
        self.connection = connection
        becomeIdle(context)
        opening.succeed(connection)
    }

    // MARK: Calls

    func send(_ call: KeptCall, on connection: KeptConnection) {
        guard self.connection != nil, let context, context.channel.isActive else {
            // The connection ended before the call reached its event loop.
            self.connection = nil
            disarm()
            let isWanted = call.startAttempt()
            let mayBeRepeated = SendAttempt.notWritten.mayBeRepeated(isEncrypted: isEncrypted, attempts: call.attempts)
            if isWanted, mayBeRepeated { return owner.returned(call, by: connection) }
            owner.closed(connection)
            return call.end(.failure(.connectionClosed))
        }
        guard call.startAttempt(), call.deadline > context.eventLoop.now else {
            becomeIdle(context)
            owner.freed(connection)
            return call.end(.failure(.timeout))
        }
        exchange = Exchange(
            call: call, answer: IncomingAnswer(maxBodyBytes: call.maxBodyBytes), deadline: call.deadline)
        arm(at: call.deadline)
        write(call, context)
    }

    private func write(_ call: KeptCall, _ context: ChannelHandlerContext) {
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { result in
            guard self.exchange?.call == call else { return }
            switch result {
            case .success: self.exchange?.isWritten = true
            case .failure(let error):
                if self.isWriting { self.exchange?.attempt = .refused }
                self.fail(error)
            }
        }
        isWriting = true
        exchange?.attempt = .maybeSent
        context.write(wrapOutboundOut(RequestBytes.announcement), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(call.request))), promise: written)
        isWriting = false
    }

    /// Ignores bytes that arrive during a write: they belong to an earlier request. NIO reads the socket empty before
    /// it reports a failed write.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let exchange, !isWriting else { return }
        guard !exchange.isAnswered else { return leave() }
        let part = unwrapInboundIn(data)
        switch self.exchange?.answer.take(part) {
        case .whole(let keepsConnection):
            if keepsConnection, exchange.isWritten {
                self.exchange?.isAnswered = true
            } else {
                leave()
            }
        case .failed(let error): fail(error)
        case .unfinished, nil:
            if case .head = part, let timeout = exchange.call.bodyTimeout {
                let end = min(exchange.deadline, context.eventLoop.now + timeout)
                self.exchange?.deadline = end
                arm(at: end)
            }
        }
    }

    /// Frees the connection only after the events that came with the answer: they may show that the connection has
    /// ended, or bring bytes that would be taken for the next call's answer.
    func channelReadComplete(context: ChannelHandlerContext) {
        if exchange?.isAnswered == true { context.eventLoop.assumeIsolated().execute { self.finish() } }
        context.fireChannelReadComplete()
    }

    private func finish() {
        guard let context, let connection, let exchange, exchange.isAnswered else { return }
        let idleTime = min(keepAlive, exchange.answer.serverKeepAlive ?? keepAlive)
        guard context.channel.isActive, idleTime > .zero else { return leave() }
        self.exchange = nil
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        becomeIdle(context, for: idleTime)
        // Frees the connection before it resumes the caller, so that the caller's next call finds it idle.
        owner.freed(connection)
        exchange.call.end(exchange.answer.result())
    }

    // MARK: The end

    func end(_ call: KeptCall, by error: OutboundError) {
        guard exchange?.call == call else {
            // The call is assigned to this connection, but has not reached its event loop.
            call.end(.failure(error))
            return
        }
        fail(error)
    }

    func close() { fail(OutboundError.cancelled) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        opening?.fail(error)
        fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        lost()
        context.fireChannelInactive()
    }

    private func lost() {
        opening?.fail(OutboundError.connectionClosed)
        fail(OutboundError.connectionClosed)
        disarm()
    }

    private func fail(_ error: any Error) {
        leave(endedBy: exchange.map { OutboundError(error, afterHead: $0.answer.hasHead) })
    }

    /// Closes the connection and ends its call.
    ///
    /// - Parameter error: nil if the answer is complete.
    private func leave(endedBy error: OutboundError? = nil) {
        guard let connection else { return }
        let exchange = self.exchange
        (self.connection, self.exchange) = (nil, nil)
        disarm()
        close(discardsWrites: exchange.map { !$0.isWritten } ?? false)
        guard let exchange else { return owner.closed(connection) }
        if exchange.attempt.mayBeRepeated(isEncrypted: isEncrypted, attempts: exchange.call.attempts) {
            return owner.returned(exchange.call, by: connection)
        }
        owner.closed(connection)
        exchange.call.end(exchange.answer.result(endedBy: exchange.isAnswered ? nil : error))
    }

    /// - Parameter discardsWrites: closes below TLS. Otherwise TLS would first send the rest of a failed request, and
    ///   the server would process a request whose caller was given an error.
    private func close(discardsWrites: Bool) {
        guard let context else { return }
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
        (discardsWrites ? tls ?? context : context).close(promise: nil)
    }

    // MARK: The alarm

    private func becomeIdle(_ context: ChannelHandlerContext, for time: TimeAmount? = nil) {
        idleUntil = context.eventLoop.now + (time ?? keepAlive)
        arm(at: idleUntil)
    }

    private func arm(at time: NIODeadline) {
        guard let context, alarm.map({ $0.at > time }) ?? true else { return }
        disarm()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { self.ring() }
        alarm = (time, task)
    }

    private func disarm() {
        alarm?.task.cancel()
        alarm = nil
    }

    private func ring() {
        alarm = nil
        guard let context else { return }
        let due = exchange?.deadline ?? (connection == nil ? openUntil : idleUntil)
        guard due <= context.eventLoop.now else { return arm(at: due) }
        if exchange != nil {
            fail(OutboundError.timeout)
        } else if let connection {
            owner.expired(connection)
        } else {
            opening?.fail(OutboundError.timeout)
            context.close(promise: nil)
        }
    }
}
