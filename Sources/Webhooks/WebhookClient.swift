import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
public import RelayCore
import TracedHTTP

/// Sends messages to webhook endpoints, signed as Standard Webhooks has it.
///
/// 2xx alone is a success. No redirect is followed, no address that ``AddressPolicy`` refuses is connected to, and the whole
/// exchange ends within its time.
public final class WebhookClient: Sendable {
    /// What is read of an answer, so that its connection can be used again; and for how long. What it says does not matter.
    private static let drainedBytes = 64 << 10
    private static let drainedFor = Duration.seconds(1)
    /// Of the addresses of a name, how many are called in one try.
    private static let addressesPerTry = 3
    private static let userAgent = "receipt-relay"

    public let timeout: Duration
    private let policy: AddressPolicy
    private let hosts: HostDirectory
    private let clients: ClientBook

    /// - Parameters:
    ///   - timeout: for a whole exchange, looking up the name included.
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

    /// To be called once, when nothing is sent any more.
    public func shutDown() async { await clients.shutDown() }

    /// One try. It ends within ``timeout``, or soon after the task is cancelled.
    ///
    /// - Parameters:
    ///   - credentials: whose secrets sign it.
    ///   - publisher: whose endpoint it is: host names are looked up on its account.
    public func send(
        _ message: WebhookMessage, to url: String, with credentials: WebhookCredentials, of publisher: PublisherID
    ) async -> WebhookResult {
        let start = ContinuousClock.now
        let deadline = start + timeout
        // The HTTP client's own deadline ends with the head, and a look-up has none: both are raced against the clock.
        let result = await withTaskGroup(of: Result<WebhookResult, WebhookTrouble>?.self) { group in
            group.addTask {
                await self.exchange(message, url, credentials, publisher, start: start, deadline: deadline)
            }
            group.addTask {
                try? await Task.sleep(until: deadline, clock: .continuous)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            // The answer may have come in that very moment.
            let last = await group.next() ?? nil
            guard case .success(let answer) = last else { return .failure(WebhookTrouble(.timeout)) }
            return .success(answer)
        }
        switch result {
        case .success(let answer): return answer
        case .failure(let trouble):
            let trouble = Task.isCancelled ? WebhookTrouble(.cancelled) : trouble
            return WebhookResult(
                trouble.verdict, error: trouble.description, latency: start.duration(to: .now))
        }
    }

    private func exchange(
        _ message: WebhookMessage, _ text: String, _ credentials: WebhookCredentials, _ publisher: PublisherID,
        start: ContinuousClock.Instant, deadline: ContinuousClock.Instant
    ) async -> Result<WebhookResult, WebhookTrouble> {
        do {
            guard let url = WebhookURL(text) else { throw WebhookTrouble(.url) }
            guard url.isSecure || !policy.requiresTLS else { throw WebhookTrouble(.plain) }
            let addresses = try await vetted(url.host, publisher)
            var request = request(message, url, credentials)
            let span = ClientSpan.start(.POST, "webhook", url: text, headers: &request.headers)
            for (index, address) in addresses.enumerated() {
                do {
                    let result = try await call(request, url.host, address, start: start, deadline: deadline)
                    span.end(status: result.status ?? 0)
                    return .success(result)
                } catch let error where index + 1 < addresses.count && WebhookTrouble(error).code == .connectionFailed {
                    // Nothing was sent: the next address of the same name may do.
                    continue
                } catch {
                    span.end(trouble: "\(WebhookTrouble(error).code)")
                    throw error
                }
            }
            throw WebhookTrouble(.unresolved)
        } catch {
            return .failure(WebhookTrouble(error))
        }
    }

    /// Of every address of the host those that may be called.
    private func vetted(_ host: String, _ publisher: PublisherID) async throws -> [IPAddress] {
        let all = try await hosts.addresses(of: host, for: publisher)
        let allowed = all.filter(policy.allows)
        guard !allowed.isEmpty else { throw WebhookTrouble(all.first.map { .refused($0) } ?? .unresolved) }
        return Array(allowed.prefix(Self.addressesPerTry))
    }

    private func request(
        _ message: WebhookMessage, _ url: WebhookURL, _ credentials: WebhookCredentials
    ) -> HTTPClientRequest {
        let seconds = Int64(Date().timeIntervalSince1970)
        var request = HTTPClientRequest(url: url.description)
        request.method = .POST
        request.headers = [
            "Content-Type": "application/json", "User-Agent": Self.userAgent, "webhook-id": message.id,
            "webhook-timestamp": "\(seconds)",
        ]
        if let signatures = credentials.signatures(of: message, secondsSince1970: seconds) {
            request.headers.add(name: "webhook-signature", value: signatures)
        }
        request.body = .bytes(ByteBuffer(bytes: message.body))
        return request
    }

    private func call(
        _ request: HTTPClientRequest, _ host: String, _ address: IPAddress, start: ContinuousClock.Instant,
        deadline: ContinuousClock.Instant
    ) async throws -> WebhookResult {
        try await clients.withClient(host: host, address: address) { client in
            let remaining = TimeAmount(max(.zero, ContinuousClock.now.duration(to: deadline)))
            let response = try await client.execute(request, deadline: .now() + remaining)
            let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
            let result = WebhookResult(
                status: Int(response.status.code),
                retryAfter: RetryAfterHeader.duration(response.headers.first(name: "Retry-After"), now: now),
                latency: start.duration(to: .now))
            await drain(response, until: min(deadline, .now + Self.drainedFor))
            return result
        }
    }

    /// What is left unread ends with its connection.
    private func drain(_ response: HTTPClientResponse, until end: ContinuousClock.Instant) async {
        // Most answers are small and here already: they need no clock.
        if response.headers.first(name: "Content-Length") == "0" || response.status == .noContent {
            return await Self.read(response.body)
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await Self.read(response.body) }
            group.addTask { try? await Task.sleep(until: end, clock: .continuous) }
            await group.next()
            group.cancelAll()
        }
    }

    private static func read(_ body: HTTPClientResponse.Body) async {
        var count = 0
        do {
            for try await chunk in body {
                count += chunk.readableBytes
                guard count <= drainedBytes else { return }
            }
        } catch {
            // The answer was had with the head.
        }
    }
}
