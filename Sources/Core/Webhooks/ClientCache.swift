import AsyncHTTPClient
import Formats
import NIOConcurrencyHelpers
import NIOCore
import OutboundHTTP
import RelayCore

/// HTTP clients, one for each pair of a host and one of its vetted addresses.
///
/// A client connects only to its address (`dnsOverride`): the name is not looked up again between vetting and
/// connecting. TLS still verifies the name. Before anything is written to a connection, its remote address is vetted
/// once more.
final class ClientCache: Sendable {
    private struct Key: Hashable {
        var host: String
        var address: IPAddress
    }

    private struct Held {
        var client: HTTPClient
        var users = 0
        var usedAt: ContinuousClock.Instant
    }

    private struct State {
        var held: [Key: Held] = [:]
        var isShutDown = false
    }

    /// Unused clients are closed above this number, or after this time.
    private static let most = 256
    private static let keptFor = Duration.seconds(60)
    /// Limit for one address.
    private static let connections = 1_024

    private let policy: AddressPolicy
    private let connectTimeout: Duration
    private let adjust: @Sendable (inout HTTPClient.Configuration) -> Void
    private let state = NIOLockedValueBox(State())

    /// - Parameter adjust: changes each client's configuration last, such as the certificates of a test's endpoints.
    init(
        policy: AddressPolicy, connectTimeout: Duration,
        adjust: @escaping @Sendable (inout HTTPClient.Configuration) -> Void
    ) {
        self.policy = policy
        self.connectTimeout = connectTimeout
        self.adjust = adjust
    }

    /// - Parameter body: uses the client until it returns.
    /// - Throws: ``OutboundError/cancelled`` after the shutdown; errors of `body`.
    func withClient<T>(
        host: String, address: IPAddress, _ body: (HTTPClient) async throws(OutboundError) -> T
    ) async throws(OutboundError) -> T {
        let key = Key(host: host, address: address)
        let client: HTTPClient? = state.withLockedValue { state in
            guard !state.isShutDown else { return nil }
            var held = state.held[key] ?? Held(client: make(key), usedAt: .now)
            held.users += 1
            state.held[key] = held
            return held.client
        }
        guard let client else { throw OutboundError.cancelled }
        defer { leave(key) }
        return try await body(client)
    }

    func shutDown() async {
        let clients = state.withLockedValue { state in
            state.isShutDown = true
            defer { state.held.removeAll() }
            return state.held.values.map(\.client)
        }
        for client in clients { try? await client.shutdown() }
    }

    private func leave(_ key: Key) {
        let now = ContinuousClock.now
        let idle: [HTTPClient] = state.withLockedValue { state in
            state.held[key]?.users -= 1
            state.held[key]?.usedAt = now
            var gone = state.held.filter { $0.value.users == 0 && $0.value.usedAt + Self.keptFor < now }
            if state.held.count - gone.count > Self.most {
                let oldest = state.held.filter { $0.value.users == 0 }.min { $0.value.usedAt < $1.value.usedAt }
                if let oldest { gone[oldest.key] = oldest.value }
            }
            for key in gone.keys { state.held[key] = nil }
            return gone.values.map(\.client)
        }
        for client in idle { Task { try? await client.shutdown() } }
    }

    private func make(_ key: Key) -> HTTPClient {
        // The caller bounds the calls; endpoints of one host must not wait for each other here.
        var configuration = HTTPClient.Configuration.outbound(
            connectTimeout: connectTimeout, connectionsPerHost: Self.connections)
        // Shorter than servers commonly keep connections, so that none closes just as it is reused.
        configuration.connectionPool.idleTimeout = .seconds(2)
        let text = "\(key.address)"
        configuration.dnsOverride = [key.host: text, "[\(key.host)]": text]
        configuration.http1_1ConnectionDebugInitializer = { [policy] channel in
            guard let remote = channel.remoteAddress?.ipAddress.flatMap({ IPAddress($0) }), policy.allows(remote) else {
                return channel.eventLoop.makeFailedFuture(OutboundError.connectionFailed)
            }
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        adjust(&configuration)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}
