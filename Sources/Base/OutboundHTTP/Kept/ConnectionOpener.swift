import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Opens connections: looks up the name, connects by TCP and TLS, and adds the handlers of HTTP/1.1.
final class ConnectionOpener: Sendable {
    let group: any EventLoopGroup
    private let connectTimeout: TimeAmount
    private let keepAlive: TimeAmount
    private let tls: TLSConfiguration
    private let context = NIOLockedValueBox<EventLoopFuture<NIOSSLContext>?>(nil)

    init(group: any EventLoopGroup, connectTimeout: TimeAmount, keepAlive: TimeAmount, tls: TLSConfiguration) {
        self.group = group
        self.connectTimeout = connectTimeout
        self.keepAlive = keepAlive
        var tls = tls
        tls.applicationProtocols = ["http/1.1"]
        tls.shutdownTimeout = .seconds(1)
        self.tls = tls
    }

    /// - Returns: a future on the connection's event loop.
    func open(_ origin: Origin, owner: any ConnectionOwner) -> EventLoopFuture<KeptConnection> {
        let loop = group.next()
        guard origin.isEncrypted else { return connect(origin, owner, nil, on: loop) }
        return tlsContext(on: loop).hop(to: loop).flatMap { self.connect(origin, owner, $0, on: loop) }
    }

    private func connect(
        _ origin: Origin, _ owner: any ConnectionOwner, _ context: NIOSSLContext?, on loop: any EventLoop
    ) -> EventLoopFuture<KeptConnection> {
        let openUntil = NIODeadline.now() + connectTimeout
        return ClientBootstrap(group: loop)
            .connectTimeout(connectTimeout)
            // A flush attempts one write. If that fails at once, the kernel has accepted no bytes of the request.
            .channelOption(.writeSpin, value: 0)
            .channelInitializer { [keepAlive] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context {
                        try pipeline.addHandler(
                            NIOSSLClientHandler(context: context, serverHostname: origin.serverName))
                    }
                    try pipeline.addHandlers([
                        RequestBytes(), ByteToMessageHandler(HTTPResponseDecoder(limitConfiguration: .answers)),
                        KeptConnectionHandler(
                            owner: owner, isEncrypted: context != nil, keepAlive: keepAlive, openUntil: openUntil),
                    ])
                }
            }
            .connect(host: origin.host, port: origin.port)
            .flatMap { channel in
                guard
                    let handler = try? channel.pipeline.syncOperations.handler(type: KeptConnectionHandler.self),
                    let opened = handler.opened
                else { return channel.eventLoop.makeFailedFuture(OutboundError.connectionClosed) }
                return opened
            }
    }

    /// Reads the trusted certificates from files once, off the event loops.
    private func tlsContext(on loop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
        context.withLockedValue { kept in
            if let kept { return kept }
            let made = NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [tls] in
                try NIOSSLContext(configuration: tls)
            }
            kept = made
            made.whenFailure { _ in self.context.withLockedValue { $0 = nil } }
            return made
        }
    }
}

extension NIOHTTPDecoderLimitConfiguration {
    /// Bounds of an answer's head.
    static var answers: Self {
        var limits = Self()
        limits.maxHeaderFieldSize = 16_384
        limits.maxHeaderListSize = 65_536
        limits.maxHeaderFieldCount = 128
        return limits
    }
}
