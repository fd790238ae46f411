public import AsyncHTTPClient
public import Logging
import NIOCore
import NIOHTTP1
import TracedHTTP

/// Passes the App Store's notifications on to Cleeng, byte for byte. It sends no publisher token: the address has the
/// publisher's id in it, and what Apple signed speaks for itself.
public struct NotificationClient: Sendable {
    private let url: String
    private let timeout: Duration
    private let upstream: Upstream
    private let logger: Logger
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - url: with the publisher's id in it.
    ///   - timeout: for one call.
    ///   - now: our clock in seconds since 1970; only for a `Retry-After` date in an answer without a `Date`.
    public init(
        url: String, timeout: Duration, httpClient: HTTPClient, logger: Logger, now: @escaping @Sendable () -> Int64
    ) {
        self.url = url
        self.timeout = timeout
        upstream = Upstream(httpClient: httpClient, maxResponseBytes: 64 << 10)
        self.logger = logger
        self.now = now
    }

    /// Cleeng takes the same notification any number of times.
    public func deliver(_ body: [UInt8]) async -> DeliveryAnswer {
        let start = ContinuousClock.now
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = ["Content-Type": "application/json", "User-Agent": "receipt-relay"]
        request.body = .bytes(ByteBuffer(bytes: body))
        let span = ClientSpan.start(.POST, "notification", url: url, headers: &request.headers)
        let verdict: DeliveryAnswer.Verdict
        var status: Int?
        do {
            let reply = try await upstream.send(request, deadline: start + timeout)
            status = reply.status
            span.end(status: reply.status)
            verdict = DeliveryAnswer.Verdict(reply, now: now)
        } catch {
            span.end(trouble: error.shortDescription)
            verdict = .tryAgain(error, retryAfter: nil)
        }
        let latency = start.duration(to: .now)
        logger.debug(
            "a notification was sent on",
            metadata: [
                "upstream_status": "\(status.map(String.init) ?? "none")",
                "duration_ms": .stringConvertible(latency / .milliseconds(1)),
            ])
        return DeliveryAnswer(verdict: verdict, status: status, latency: latency)
    }
}
