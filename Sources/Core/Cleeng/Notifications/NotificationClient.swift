public import AsyncHTTPClient
public import Logging
import NIOCore
import NIOHTTP1
import OutboundHTTP

/// Forwards the App Store's notifications to Cleeng, byte for byte. It sends no publisher token: the address contains
/// the publisher's id, and Apple's signature proves the content.
public struct NotificationClient: Sendable {
    private let url: String
    private let timeout: Duration
    private let httpClient: HTTPClient
    private let logger: Logger

    /// - Parameter url: address with the publisher's id.
    public init(url: String, timeout: Duration, httpClient: HTTPClient, logger: Logger) {
        self.url = url
        self.timeout = timeout
        self.httpClient = httpClient
        self.logger = logger
    }

    /// Delivers a notification. Cleeng accepts repeats of it.
    public func deliver(_ body: [UInt8]) async -> DeliveryAnswer {
        let start = ContinuousClock.now
        let request = OutboundRequest(
            url: url, method: .POST, headers: ["Content-Type": "application/json"], body: ByteBuffer(bytes: body))
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

/// Cleeng's answer to a forwarded notification.
public struct DeliveryAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        case delivered
        /// Cleeng refuses this notification; the next one may be accepted.
        case refused
        /// The address is wrong.
        case misconfigured
        case tryAgain(CleengTrouble, retryAfter: Duration?)

        /// Text for metrics and operators: one of a fixed set.
        public var shortDescription: String {
            switch self {
            case .delivered: "delivered"
            case .refused: "refused"
            case .misconfigured: "misconfigured"
            case .tryAgain(let trouble, _): trouble.rawValue
            }
        }
    }

    public var verdict: Verdict
    /// Nil if no answer came.
    public var status: Int?
    public var latency: Duration
}

extension DeliveryAnswer.Verdict {
    /// Judges by the status alone, as Apple does.
    init(_ reply: HTTPReply) {
        switch reply.status {
        case 200..<300: self = .delivered
        case 400, 413, 422: self = .refused
        case let status where StatusSorting.isMisconfiguration(status): self = .misconfigured
        default: self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: reply.headers.retryAfter())
        }
    }
}
