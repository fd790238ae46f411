package import Hummingbird
package import Logging

extension Application where Responder.Context == SimulatorContext {
    /// The HTTP server of a simulator. It serves until SIGTERM or SIGINT; hanging requests are cut off within half a second of it.
    ///
    /// - Parameters:
    ///   - port: 0 for any free one.
    ///   - onReady: is told the address, such as `http://127.0.0.1:8090`.
    package init(
        simulating responder: Responder, host: String, port: Int, logger: Logger,
        onReady: @escaping @Sendable (String) -> Void
    ) {
        self.init(
            responder: responder,
            server: .http1(configuration: .init(additionalChannelHandlers: [ConnectionGuard()])),
            configuration: .init(address: .hostname(host, port: port), serverName: nil, backlog: 4_096),
            onServerRunning: { channel in
                let name = host.contains(":") ? "[\(host)]" : host
                onReady("http://\(name):\(channel.localAddress?.port ?? 0)")
            },
            logger: logger)
    }
}
