import NIOCore
import NIOPosix

/// A raw server's action after the first bytes of a request.
public enum RawStep: Sendable {
    case write(String)
    case close
    /// Writes a byte every few milliseconds, for as long as the connection lives.
    case trickle
}

/// Runs a TCP server that answers the first bytes of each connection with a script, then leaves the connection open.
public func withRawServer<Answer>(_ steps: [RawStep], test: (String) async throws -> Answer) async throws -> Answer {
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(RawScriptHandler(steps))
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    do {
        let answer = try await test("http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
        try await channel.close()
        return answer
    } catch {
        try await channel.close()
        throw error
    }
}

private final class RawScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var steps: [RawStep]
    private var ticking: RepeatedTask?

    init(_ steps: [RawStep]) { self.steps = steps }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let steps = steps
        self.steps = []
        for step in steps {
            switch step {
            case .write(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            case .close: context.close(promise: nil)
            case .trickle:
                let channel = context.channel
                ticking = context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(5)) { _ in
                    channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
                }
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        ticking?.cancel()
        context.fireChannelInactive()
    }
}
