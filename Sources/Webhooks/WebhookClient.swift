import AsyncHTTPClient
import Formats
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore

/// Sends messages to webhook endpoints, signed as Standard Webhooks defines.
///
/// 2xx alone is a success. No redirect is followed, no address that ``AddressPolicy`` refuses is connected to, and the whole
/// exchange ends within its time.
public final class WebhookClient: Sendable {
    /// How much of an answer is read, and for how long, so that its connection can be used again. What it says does not matter.
    private static let drainedBytes = 64 << 10
    private static let drainedFor = Duration.seconds(1)
    /// How many addresses of a name one try calls at most.
    private static let addressesPerTry = 3
    private static let longestPause = Duration.seconds(86_400)

    public let timeout: Duration
    private let policy: AddressPolicy
    private let hosts: HostDirectory
    private let clients: ClientBook

    /// - Parameters:
    ///   - timeout: for a whole exchange, with the lookup of the name.
    ///   - connections: how many may be open to one address.
    public convenience init(
        timeout: Duration, policy: AddressPolicy = AddressPolicy(), connections: Int = 1_024
    ) {
        self.init(timeout: timeout, policy: policy, connections: connections, hosts: HostDirectory())
    }

    init(
        timeout: Duration, policy: AddressPolicy, connections: Int = 1_024, hosts: HostDirectory,
        adjust: @escaping @Sendable (inout HTTPClient.Configuration) -> Void = { _ in }
    ) {
        self.timeout = timeout
        self.policy = policy
        self.hosts = hosts
        clients = ClientBook(
            policy: policy, connections: connections, connectTimeout: min(timeout, .seconds(5)), adjust: adjust)
    }

    /// Closes all connections. Called once, after the last message.
    public func shutDown() async { await clients.shutDown() }

    /// One try. It ends within ``timeout``, or soon after the task is cancelled.
    ///
    /// - Parameters:
    ///   - credentials: the secrets that sign it.
    ///   - publisher: owner of the endpoint, whose share of the lookup threads is used.
    public func send(
        _ message: WebhookMessage, to url: String, with credentials: WebhookCredentials, of publisher: PublisherID
    ) async -> WebhookResult {
        let start = ContinuousClock.now
        do {
            return try await exchange(message, url, credentials, publisher, start: start)
        } catch {
            let trouble = Task.isCancelled ? WebhookTrouble(.cancelled) : error
            return WebhookResult(trouble.verdict, error: trouble.description, latency: start.duration(to: .now))
        }
    }

    private func exchange(
        _ message: WebhookMessage, _ text: String, _ credentials: WebhookCredentials, _ publisher: PublisherID,
        start: ContinuousClock.Instant
    ) async throws(WebhookTrouble) -> WebhookResult {
        guard let url = WebhookURL(text) else { throw WebhookTrouble(.url) }
        guard url.isSecure || !policy.requiresTLS else { throw WebhookTrouble(.plain) }
        let deadline = start + timeout
        let addresses = try await vetted(url.host, publisher, by: deadline)
        var request = request(message, url, credentials)
        let span = ClientSpan.start(.POST, "webhook", url: text, headers: &request.headers)
        var last = OutboundError.connectionFailed
        for address in addresses {
            do {
                let reply = try await clients.withClient(host: url.host, address: address) {
                    client throws(OutboundError) in
                    try await HTTPExchange(
                        client, by: deadline, atMost: Self.drainedBytes, bodyWithin: Self.drainedFor
                    ).send(request)
                }
                span.end(status: reply.status)
                return WebhookResult(
                    status: reply.status, retryAfter: reply.headers.retryAfter(within: .zero...Self.longestPause),
                    latency: start.duration(to: reply.receivedAt))
            } catch {
                last = error
                // Nothing was sent: the next address of the same name may do.
                guard error == .connectionFailed else { break }
            }
        }
        span.end(last)
        throw WebhookTrouble(.exchange(last))
    }

    /// The addresses of the host that may be called.
    private func vetted(
        _ host: String, _ publisher: PublisherID, by deadline: ContinuousClock.Instant
    ) async throws(WebhookTrouble) -> [IPAddress] {
        let all = try await hosts.addresses(of: host, for: publisher, by: deadline)
        let allowed = all.filter(policy.allows)
        guard !allowed.isEmpty else { throw WebhookTrouble(all.first.map { .refused($0) } ?? .unresolved) }
        return Array(allowed.prefix(Self.addressesPerTry))
    }

    private func request(
        _ message: WebhookMessage, _ url: WebhookURL, _ credentials: WebhookCredentials
    ) -> HTTPClientRequest {
        let seconds = WallClock.secondsSince1970
        var request = HTTPClientRequest(url: url.description)
        request.method = .POST
        request.headers = [
            "Content-Type": "application/json", "webhook-id": message.id, "webhook-timestamp": "\(seconds)",
        ]
        if let signatures = credentials.signatures(of: message, secondsSince1970: seconds) {
            request.headers.add(name: "webhook-signature", value: signatures)
        }
        request.body = .bytes(ByteBuffer(bytes: message.body))
        return request
    }
}
