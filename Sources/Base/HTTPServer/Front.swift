package import Hummingbird
import HummingbirdCore
import Logging
package import NIOCore
import NIOPosix
package import ServiceLifecycle

/// An HTTP server for one group of clients, on one address.
///
/// On graceful shutdown it stops accepting and calls ``onShutdown``, which must end the polls that are held. It answers
/// the requests that have arrived, and cuts what is left after eight seconds.
package struct Front: Sendable {
    /// Called with the address once the server listens.
    package typealias OnListening = @Sendable (SocketAddress) async -> Void

    package var routes: [Route]
    package var gate: RequestGate
    /// The first that covers a request's path gives its errors their form.
    package var dialects: [ErrorDialect] = []
    /// The first segments of paths that match without regard to case, in lower case.
    package var foldedPaths: [StaticString] = []
    /// The client's problem for an error that a route threw.
    package var describe: @Sendable (any Error) -> Problem = { Problem(ofServer: $0) }
    /// Bytes of a body that are read after its answer. A route's ``BodyReader`` limits the body itself.
    package var maxBodyBytes: Int
    /// Further connections wait in the backlog.
    package var maxConnections: Int
    package var onShutdown: @Sendable () -> Void = {}
    /// Waits for work that continues without its connection.
    package var drain: @Sendable () async -> Void = {}

    package init(_ routes: [Route], gate: RequestGate, maxBodyBytes: Int, maxConnections: Int) {
        self.routes = routes
        self.gate = gate
        self.maxBodyBytes = maxBodyBytes
        self.maxConnections = maxConnections
    }

    private static let backlog = 4_096
    /// Time between two requests of a connection, and from the first byte of a request to the end of its head.
    private static let idleTimeout = Duration.seconds(30)
    /// Time between the end of a request's head and the end of its body. Shorter than `idleTimeout`, which would cut a
    /// client in the middle of its body without an answer.
    private static let bodyTimeout = TimeAmount.seconds(25)
    /// How long a client may leave its answer unread.
    private static let writeTimeout = TimeAmount.seconds(30)

    /// - Parameter address: port 0 for any free one.
    package func service(on address: BindAddress, onListening: @escaping OnListening) -> any Service {
        let channel = channel(
            limits: ConnectionLimits(
                idleTime: Self.idleTimeout, bodyTime: Self.bodyTimeout, writeTime: Self.writeTimeout,
                bodyBytes: maxBodyBytes))
        let server = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: address, serverName: nil, backlog: Self.backlog,
                availableConnectionsDelegate: MaximumAvailableConnections(maxConnections)),
            onServerRunning: { channel in
                if let address = channel.localAddress { await onListening(address) }
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        return FrontService(server: server, onShutdown: onShutdown, drain: drain)
    }

    /// The handlers of each connection.
    func channel(limits: ConnectionLimits) -> FrontChannel {
        let router = Router(context: FrontContext.self, options: .autoGenerateHeadEndpoints)
        router.add(
            middleware: FrontMiddleware(
                allowed: AllowedMethods(routes), gate: gate,
                unlimited: Set(routes.filter(\.isUnlimited).map(\.path)), dialects: dialects, describe: describe))
        for route in routes { route.add(to: router) }
        return FrontChannel(
            responder: FrontResponder(
                router: router.buildResponder(), cached: CachedRoutes(routes, gate: gate),
                folded: FoldedPaths(foldedPaths), logger: quiet),
            limits: limits)
    }

    /// Hummingbird logs each address and its own errors' text. The gate's log lines cover both.
    private var quiet: Logger {
        var logger = gate.logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }
}

/// Server of a front. Its held polls are answered when shutdown begins, since the server cannot end before.
private struct FrontService: Service {
    let server: any Service
    let onShutdown: @Sendable () -> Void
    let drain: @Sendable () async -> Void

    func run() async throws {
        do {
            try await withGracefulShutdownHandler {
                try await server.run()
            } onGracefulShutdown: {
                onShutdown()
            }
        } catch {
            await drain()
            throw error
        }
        await drain()
    }
}
