/// Result of one try to deliver a message.
public struct WebhookResult: Sendable, Equatable {
    public enum Verdict: String, Sendable, CaseIterable {
        /// Any 2xx status.
        case delivered
        /// Must be tried again.
        case failed
        /// 410: the endpoint accepts no more messages.
        case gone
        /// The relay may not send messages to this address.
        case refused
        /// Cancelled by the relay, as on shutdown. It proves nothing.
        case cancelled
        /// Not started, because this process was full. It proves nothing and does not count as a try.
        case postponed
    }

    public var verdict: Verdict
    /// Nil if no answer came.
    public var status: Int?
    /// Text for operators, without secrets. Nil if it was delivered.
    public var error: String?
    public var retryAfter: Duration?
    public var latency: Duration

    public init(
        _ verdict: Verdict, status: Int? = nil, error: String? = nil, retryAfter: Duration? = nil,
        latency: Duration = .zero
    ) {
        self.verdict = verdict
        self.status = status
        self.error = error
        self.retryAfter = retryAfter
        self.latency = latency
    }

    /// The result of an endpoint's answer.
    public init(status: Int, retryAfter: Duration?, latency: Duration) {
        switch status {
        case 200..<300: self.init(.delivered, status: status, latency: latency)
        case 410: self.init(.gone, status: status, error: "HTTP 410: the endpoint is gone", latency: latency)
        case 300..<400:
            self.init(
                .failed, status: status, error: "HTTP \(status): redirects are not followed", latency: latency)
        default:
            self.init(
                .failed, status: status, error: "HTTP \(status)", retryAfter: retryAfter, latency: latency)
        }
    }
}
