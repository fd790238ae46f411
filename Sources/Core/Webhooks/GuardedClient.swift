import AsyncHTTPClient
import Formats
import NIOHTTP1
public import OutboundHTTP
public import RelayCore

/// Client for addresses that other parties name. It follows no redirects, and connects to no address that
/// ``AddressPolicy`` refuses.
public final class GuardedClient: Sendable {
    /// Limit of addresses of one name that a send tries.
    private static let addressesPerTry = 3

    private let policy: AddressPolicy
    private let hosts: HostDirectory
    private let clients: ClientCache

    public convenience init(policy: AddressPolicy) {
        self.init(policy: policy, connectTimeout: .seconds(5), hosts: HostDirectory())
    }

    init(
        policy: AddressPolicy, connectTimeout: Duration, hosts: HostDirectory,
        adjust: @escaping @Sendable (inout HTTPClient.Configuration) -> Void = { _ in }
    ) {
        self.policy = policy
        self.hosts = hosts
        clients = ClientCache(policy: policy, connectTimeout: connectTimeout, adjust: adjust)
    }

    /// Closes all connections. Called once, after the last call.
    public func shutDown() async { await clients.shutDown() }

    /// - Parameters:
    ///   - url: of the request.
    ///   - publisher: the publisher whose share of the lookup threads is used.
    ///   - route: span name.
    ///   - deadline: for the whole exchange, including the lookup of the name.
    ///   - bodyTimeout: earlier limit for reading the answer's body.
    /// - Throws: if no response head arrived.
    public func send(
        _ request: OutboundRequest, to url: WebhookURL, for publisher: PublisherID, route: String,
        by deadline: ContinuousClock.Instant, atMost maxBodyBytes: Int, bodyWithin bodyTimeout: Duration? = nil
    ) async throws(WebhookTrouble) -> HTTPReply {
        guard url.isSecure || !policy.requiresTLS else { throw WebhookTrouble.plain }
        let addresses = try await vetted(url.host, publisher, by: deadline)
        var request = request
        let span = ClientSpan.start(request.method, route, url: request.url, headers: &request.headers)
        var last = OutboundError.connectionFailed
        for address in addresses {
            do {
                let reply = try await clients.withClient(host: url.host, address: address) {
                    [request] client throws(OutboundError) in
                    try await HTTPExchange(client, by: deadline, atMost: maxBodyBytes, bodyWithin: bodyTimeout)
                        .send(request)
                }
                span.end(status: reply.status)
                return reply
            } catch {
                last = error
                // Nothing was sent, so the next address of the same name is tried. A timeout before the deadline is the
                // connection's own: this address is silent.
                guard error == .connectionFailed || error == .timeout && ContinuousClock.now < deadline else { break }
            }
        }
        span.end(last)
        throw WebhookTrouble.exchange(last)
    }

    /// The host's addresses that the policy allows.
    private func vetted(
        _ host: String, _ publisher: PublisherID, by deadline: ContinuousClock.Instant
    ) async throws(WebhookTrouble) -> [IPAddress] {
        let all = try await hosts.addresses(of: host, for: publisher, by: deadline)
        let allowed = all.filter(policy.allows)
        guard !allowed.isEmpty else { throw all.first.map { WebhookTrouble.refused($0) } ?? .unresolved }
        return Self.order(allowed)
    }

    /// The addresses that a send tries: the system's first choice, one of the other family, and any of the others, so
    /// that a few dead addresses do not hide the rest for ever.
    static func order(_ addresses: [IPAddress]) -> [IPAddress] {
        guard let first = addresses.first else { return [] }
        let other = addresses.first { $0.bytes.count != first.bytes.count }
        let begin = [first, other].compactMap(\.self)
        let rest = addresses.dropFirst().filter { $0 != other }.shuffled()
        return Array((begin + rest).prefix(addressesPerTry))
    }
}
