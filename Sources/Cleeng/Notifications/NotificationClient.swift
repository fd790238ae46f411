public import AsyncHTTPClient
public import Logging
import NIOCore
import NIOHTTP1
import OutboundHTTP

/// Passes the App Store's notifications on to Cleeng, byte for byte. It sends no publisher token: the address has the
/// publisher's id in it, and what Apple signed speaks for itself.
public struct NotificationClient: Sendable {
    private let url: String
    private let timeout: Duration
    private let httpClient: HTTPClient
    private let logger: Logger

    /// - Parameters:
    ///   - url: with the publisher's id in it.
    ///   - timeout: for one call.
    public init(url: String, timeout: Duration, httpClient: HTTPClient, logger: Logger) {
        self.url = url
        self.timeout = timeout
        self.httpClient = httpClient
        self.logger = logger
    }

    /// Cleeng takes the same notification any number of times.
    public func deliver(_ body: [UInt8]) async -> DeliveryAnswer {
        let start = ContinuousClock.now
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = ["Content-Type": "application/json"]
        request.body = .bytes(ByteBuffer(bytes: body))
        let verdict: DeliveryAnswer.Verdict
        var status: Int?
        do {
            let exchange = HTTPExchange(httpClient, by: start + timeout, atMost: 64 << 10)
            let reply = try await exchange.send(request, route: "notification")
            status = reply.status
            verdict = DeliveryAnswer.Verdict(reply)
        } catch {
            verdict = .tryAgain(CleengTrouble(error), retryAfter: nil)
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
