import AsyncHTTPClient
import NIOConcurrencyHelpers
import NIOCore
import OutboundHTTP
import RelayCore

/// An HTTP client for each pair of a host and one of its vetted addresses.
///
/// Each calls that address whatever the name means by then (`dnsOverride`): between vetting and connecting nothing is looked up
/// again. TLS still verifies the name. And before anything is written to a connection, the address that it was made to is
/// vetted once more.
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

    /// Unused ones above this, or for longer than this, are closed.
    private static let most = 256
    private static let keptFor = Duration.seconds(60)
    /// To one address.
    private static let connections = 1_024

    private let policy: AddressPolicy
    private let connectTimeout: Duration
    private let adjust: @Sendable (inout HTTPClient.Configuration) -> Void
    private let state = NIOLockedValueBox(State())

    /// - Parameter adjust: has the last word on each client's configuration: which certificates a test's endpoints have, for one.
    init(
        policy: AddressPolicy, connectTimeout: Duration,
        adjust: @escaping @Sendable (inout HTTPClient.Configuration) -> Void
    ) {
        self.policy = policy
        self.connectTimeout = connectTimeout
        self.adjust = adjust
    }

    /// - Parameter body: may use the client until it returns.
    /// - Throws: ``OutboundError/cancelled`` after the shutdown; what `body` throws.
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
        // Its caller decides how many there may be; endpoints of one host must not wait for each other here.
        var configuration = HTTPClient.Configuration.outbound(
            connectTimeout: connectTimeout, connectionsPerHost: Self.connections)
        // Shorter than what servers commonly keep a connection for, so that none is closed just when it is used again.
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
