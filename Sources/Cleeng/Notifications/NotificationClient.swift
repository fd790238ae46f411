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

    /// - Parameter url: with the publisher's id in it.
    public init(url: String, timeout: Duration, httpClient: HTTPClient, logger: Logger) {
        self.url = url
        self.timeout = timeout
        self.httpClient = httpClient
        self.logger = logger
    }

    /// Cleeng takes the same notification any number of times.
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

/// What Cleeng made of a notification that was passed on.
public struct DeliveryAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        case delivered
        /// This very one is not wanted; the next may be.
        case refused
        /// The address is not the one that we mean.
        case misconfigured
        case tryAgain(CleengTrouble, retryAfter: Duration?)

        /// For metrics and for ops: one of a fixed set.
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
    /// Nil where no answer came.
    public var status: Int?
    public var latency: Duration
}

extension DeliveryAnswer.Verdict {
    /// Judges by the status alone, as Apple itself does.
    init(_ reply: HTTPReply) {
        switch reply.status {
        case 200..<300: self = .delivered
        case 400, 413, 422: self = .refused
        case let status where StatusSorting.isMisconfiguration(status): self = .misconfigured
        default: self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: reply.headers.retryAfter())
        }
    }
}
