/// Result of one try to deliver a message.
public struct WebhookResult: Sendable, Equatable {
    public enum Verdict: String, Sendable, CaseIterable {
        /// 2xx, and nothing else.
        case delivered
        /// To be tried again.
        case failed
        /// 410: the endpoint wants no more messages.
        case gone
        /// The address is none that messages may be sent to.
        case refused
        /// Broken off by ourselves, as in a shutdown: it says nothing.
        case cancelled
        /// Not begun, because this process was full: it says nothing, and is no try.
        case postponed
    }

    public var verdict: Verdict
    /// Nil where no answer came.
    public var status: Int?
    /// For ops; without secrets. Nil where it was delivered.
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

    /// The answer of an endpoint.
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
