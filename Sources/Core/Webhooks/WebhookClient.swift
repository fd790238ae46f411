import AsyncHTTPClient
import Formats
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore

/// Sends messages to webhook endpoints, signed as Standard Webhooks defines.
///
/// Only 2xx is a success. The whole exchange ends within its timeout.
public final class WebhookClient: Sendable {
    /// Limits for reading the answer's body, which is read only so that the connection can be reused.
    private static let drainedBytes = 64 << 10
    private static let drainedFor = Duration.seconds(1)
    private static let longestPause = Duration.seconds(86_400)

    public let timeout: Duration
    private let client: GuardedClient

    /// - Parameter timeout: for a whole exchange, including the lookup of the name.
    public convenience init(timeout: Duration, policy: AddressPolicy) {
        self.init(timeout: timeout, policy: policy, hosts: HostDirectory())
    }

    init(
        timeout: Duration, policy: AddressPolicy, hosts: HostDirectory,
        adjust: @escaping @Sendable (inout HTTPClient.Configuration) -> Void = { _ in }
    ) {
        self.timeout = timeout
        client = GuardedClient(policy: policy, connectTimeout: min(timeout, .seconds(5)), hosts: hosts, adjust: adjust)
    }

    /// Closes all connections. Called once, after the last message.
    public func shutDown() async { await client.shutDown() }

    /// Sends the message once. Ends within ``timeout``, or soon after the task is cancelled.
    ///
    /// - Parameters:
    ///   - credentials: the secrets that sign the message.
    ///   - publisher: owner of the endpoint, whose share of the lookup threads is used.
    ///   - now: the database's time, for `webhook-timestamp`. Receivers reject a message whose time is minutes off, so
    ///     a wrong host clock must not matter. Nil uses the host's clock, for a process that has not reached the
    ///     database yet.
    public func send(
        _ message: WebhookMessage, to url: String, with credentials: WebhookCredentials, of publisher: PublisherID,
        at now: Timestamp?
    ) async -> WebhookResult {
        let start = ContinuousClock.now
        let seconds = now.map { $0.microseconds / 1_000_000 } ?? WallClock.secondsSince1970
        do {
            return try await exchange(message, url, credentials, publisher, seconds, start: start)
        } catch {
            let trouble = Task.isCancelled ? WebhookTrouble.cancelled : error
            return WebhookResult(trouble.verdict, error: trouble.description, latency: start.duration(to: .now))
        }
    }

    private func exchange(
        _ message: WebhookMessage, _ text: String, _ credentials: WebhookCredentials, _ publisher: PublisherID,
        _ secondsSince1970: Int64, start: ContinuousClock.Instant
    ) async throws(WebhookTrouble) -> WebhookResult {
        guard let url = WebhookURL(text) else { throw WebhookTrouble.url }
        let reply = try await client.send(
            request(message, url, credentials, secondsSince1970), to: url, for: publisher, route: "webhook",
            by: start + timeout, atMost: Self.drainedBytes, bodyWithin: Self.drainedFor)
        return WebhookResult(
            status: reply.status, retryAfter: reply.headers.retryAfter(within: .zero...Self.longestPause),
            latency: start.duration(to: reply.receivedAt))
    }

    private func request(
        _ message: WebhookMessage, _ url: WebhookURL, _ credentials: WebhookCredentials, _ seconds: Int64
    ) -> OutboundRequest {
        var request = OutboundRequest(url: url.description)
        request.method = .POST
        request.headers = [
            "Content-Type": "application/json", "webhook-id": message.id, "webhook-timestamp": "\(seconds)",
        ]
        if let signatures = credentials.signatures(of: message, secondsSince1970: seconds) {
            request.headers.add(name: "webhook-signature", value: signatures)
        }
        request.body = ByteBuffer(bytes: message.body)
        return request
    }
}
