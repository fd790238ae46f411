import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Telemetry

@testable import HTTPServer

/// A front without a database, and raw connections to it.
struct TestFront: Sendable {
    private let address: SocketAddress
    private let accepted: NIOLockedValueBox<[any Channel]>

    /// Fires the event with which a server's shutdown begins, in every connection.
    func quiesce() async throws {
        for channel in accepted.withLockedValue({ $0 }) {
            try await channel.eventLoop.submit {
                channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            }.get()
        }
    }

    static func with(_ routes: [Route], _ body: (TestFront) async throws -> Void) async throws {
        let front = channel(routes)
        let logger = quiet
        let accepted = NIOLockedValueBox<[any Channel]>([])
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                accepted.withLockedValue { $0.append(channel) }
                return front.setup(channel: channel, logger: logger).map { _ in }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            guard let address = server.localAddress else { throw ChannelError.unknownLocalAddress }
            try await body(TestFront(address: address, accepted: accepted))
        } catch {
            try? await server.close()
            throw error
        }
        try await server.close()
    }

    /// - Parameter reads: whether the client reads the answers.
    func connect(reads: Bool = true) async throws -> (channel: any Channel, client: RawClient) {
        let client = RawClient()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(ChannelOptions.autoRead, value: reads)
            .channelInitializer { channel in channel.pipeline.addHandler(client) }
            .connect(to: address).get()
        return (channel, client)
    }

    /// All answers of the front until it closes the connection.
    func exchange(_ requests: String) async throws -> String {
        let (channel, client) = try await connect()
        try await channel.writeAndFlush(ByteBuffer(string: requests)).get()
        guard await Self.eventually({ client.isEnded }) else {
            try await channel.close()
            return "the connection is kept, after: \(client.text)"
        }
        return client.text
    }

    /// Whether the condition becomes true within half a minute.
    static func eventually(_ holds: () -> Bool) async -> Bool {
        for _ in 0..<3_000 {
            if holds() { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func channel(_ routes: [Route]) -> FrontChannel {
        let gate = RequestGate(metrics: FrontMetrics(registry: PrometheusRegistry()), logger: quiet)
        return Front(routes, gate: gate, maxBodyBytes: 1 << 20, maxConnections: 1_000).channel(
            limits: ConnectionLimits(
                idleTime: .seconds(60), bodyTime: .seconds(60), writeTime: .seconds(60), bodyBytes: 1 << 20))
    }
}

/// The client's end of a connection.
final class RawClient: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private struct State {
        var received = ByteBuffer()
        var isEnded = false
    }

    private let state = NIOLockedValueBox(State())

    var text: String { String(buffer: state.withLockedValue { $0.received }) }
    var bytes: Int { state.withLockedValue { $0.received.readableBytes } }
    var isEnded: Bool { state.withLockedValue { $0.isEnded } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        state.withLockedValue { state in _ = state.received.writeBuffer(&bytes) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        state.withLockedValue { $0.isEnded = true }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
