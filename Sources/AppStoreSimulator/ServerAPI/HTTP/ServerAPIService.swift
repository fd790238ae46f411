import Hummingbird
import Logging
import SimulatorHTTP

/// The HTTP server of the simulated API.
struct ServerAPIService: Sendable {
    let api: ServerAPI
    let host: String
    /// 0 for any free one.
    let port: Int
    let logger: Logger

    /// Serves until SIGTERM or SIGINT; hanging requests are cut off within half a second of it.
    ///
    /// - Parameter onReady: is told the address, such as `http://127.0.0.1:8091`.
    func run(onReady: @escaping @Sendable (String) -> Void) async throws {
        let host = host
        let application = Application(
            responder: ServerAPIResponder(api: api),
            server: .http1(configuration: .init(additionalChannelHandlers: [ConnectionGuard()])),
            configuration: .init(address: .hostname(host, port: port), serverName: nil, backlog: 4_096),
            onServerRunning: { channel in
                let name = host.contains(":") ? "[\(host)]" : host
                onReady("http://\(name):\(channel.localAddress?.port ?? 0)")
            },
            logger: logger)
        try await application.runService()
    }
}
