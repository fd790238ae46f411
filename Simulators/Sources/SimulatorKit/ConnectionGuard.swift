package import NIOCore

/// Closes connections that nobody else would close in time.
///
/// A client that goes away closes its sending side, which leaves a waiting handler unaware; and at shutdown a request
/// that is left hanging on purpose would hold the process for ever.
package final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = NIOAny
    package typealias InboundOut = NIOAny

    package init() {}

    /// What ordinary requests get to finish in, at shutdown.
    static let grace = TimeAmount.milliseconds(300)

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
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
