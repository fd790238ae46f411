import NIOConcurrencyHelpers
public import NIOCore
public import NIOPosix
public import NIOSSL

/// A client for one frequently called service: HTTP/1.1 on connections that stay open, shared by all event loops.
///
/// A call costs half of what a general client's costs. In return the client does less: no redirects, proxies, streaming
/// or decompression. A failed connection attempt fails its calls at once, since each caller has its own back-off.
public final class KeptConnections: Sendable {
    private struct State {
        var hosts: [KeptHost] = []
        var isShutDown = false
    }

    private let opener: ConnectionOpener
    private let limit: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - connectTimeout: limit for name lookup and TCP, and again for the TLS handshake. 5 s at most.
    ///   - connectionsPerHost: highest number of connections; further calls wait.
    ///   - keepAlive: idle time after which a connection is closed. Many servers close theirs after five seconds.
    ///   - tls: certificates to trust.
    public init(
        connectTimeout: Duration = .seconds(5), connectionsPerHost: Int = 8, keepAlive: Duration = .seconds(4),
        tls: TLSConfiguration = .makeClientConfiguration(),
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup
    ) {
        opener = ConnectionOpener(
            group: group, connectTimeout: TimeAmount(min(connectTimeout, .seconds(5))),
            keepAlive: TimeAmount(keepAlive),
            tls: tls)
        limit = connectionsPerHost
    }

    /// - Parameters:
    ///   - deadline: covers the whole call, including the wait for a connection.
    ///   - bodyTimeout: stops reading the body earlier than `deadline`.
    /// - Throws: if no head of an answer arrived.
    func send(
        _ request: OutboundRequest, by deadline: ContinuousClock.Instant, atMost maxBodyBytes: Int,
        bodyWithin bodyTimeout: Duration?
    ) async throws(OutboundError) -> HTTPReply {
        guard let host = host(of: request.url), let bytes = host.origin.encode(request) else { throw .connectionFailed }
        let time = max(.zero, ContinuousClock.now.duration(to: deadline))
        let call = KeptCall(
            bytes, by: .now() + TimeAmount(time), atMost: maxBodyBytes, bodyWithin: bodyTimeout.map { TimeAmount($0) })
        return try await host.perform(call).get()
    }

    /// Closes all connections. Running calls and all later ones end as cancelled.
    public func shutDown() {
        let hosts = state.withLockedValue { state in
            state.isShutDown = true
            return state.hosts
        }
        for host in hosts { host.shutDown() }
    }

    /// Connections that are open or opening.
    var connectionCount: Int { state.withLockedValue { $0.hosts }.reduce(0) { $0 + $1.connectionCount } }

    /// The connections to a URL's host. The settings name few hosts, so a linear search is enough, and only a host's
    /// first URL is parsed.
    private func host(of url: String) -> KeptHost? {
        state.withLockedValue { state in
            if let host = state.hosts.first(where: { $0.origin.target(in: url) != nil }) { return host }
            guard let origin = Origin(of: url) else { return nil }
            let host = KeptHost(origin, limit: limit, opener: opener)
            if state.isShutDown { host.shutDown() }
            state.hosts.append(host)
            return host
        }
    }
}
