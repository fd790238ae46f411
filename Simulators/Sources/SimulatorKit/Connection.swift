import Hummingbird
import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The connection of a request.
struct ClientConnection: Sendable {
    let channel: any Channel

    /// Waits until the client disconnects, or the simulator shuts down.
    func waitUntilClosed() async {
        try? await channel.closeFuture.get()
    }

    /// Waits for a time, or until the connection is closed.
    /// - Returns: whether the connection is still open.
    func wait(milliseconds: Int64) async -> Bool {
        let sleep = Task { try await Task.sleep(for: .milliseconds(milliseconds)) }
        channel.closeFuture.whenComplete { _ in sleep.cancel() }
        _ = await sleep.result
        return channel.isActive
    }

    /// Aborts the connection with a TCP reset: unread data is lost, and the client gets "connection reset by peer".
    func reset() async {
        if let options = channel as? any SocketOptionProvider {
            try? await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try? await channel.close().get()
    }
}

/// The connection is closed, so no response can be sent.
struct ConnectionGone: Error {}

/// A request's context with its connection.
struct SimulatorContext: InitializableFromSource, Sendable {
    let connection: ClientConnection

    init(source: ApplicationRequestContextSource) {
        connection = ClientConnection(channel: source.channel)
    }
}

/// Closes connections that would otherwise stay open.
///
/// A client that disconnects closes its sending side, which a waiting handler does not notice. At shutdown, a request
/// that hangs on purpose would keep the process alive.
final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias InboundOut = NIOAny

    /// Time in which ordinary requests can finish at shutdown.
    private static let grace = TimeAmount.milliseconds(300)

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        switch event {
        case ChannelEvent.inputClosed:
            context.close(promise: nil)
        case is ChannelShouldQuiesceEvent:
            let channel = context.channel
            context.eventLoop.scheduleTask(in: Self.grace) { channel.close(promise: nil) }
        default:
            break
        }
    }
}
