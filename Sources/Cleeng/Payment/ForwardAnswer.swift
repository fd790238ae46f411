/// What Cleeng made of a forwarded purchase.
public struct ForwardAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// 2xx: the request is well formed. Says nothing about access. `message` is what the body said, if anything.
        case accepted(message: String?)
        /// 400 or 422: this purchase is refused, and sending it again is of no use.
        case rejected(code: String?, message: String?)
        /// The fault is in our configuration; no purchase may suffer for it.
        case misconfigured(message: String?)
        /// Nothing is known. `retryAfter`, within 1 s and 1 h, where Cleeng asked for it.
        case tryAgain(CleengTrouble, retryAfter: Duration?)
    }

    public var verdict: Verdict
    /// Nil where no answer came.
    public var status: Int?
    public var latency: Duration

    public init(verdict: Verdict, status: Int?, latency: Duration) {
        self.verdict = verdict
        self.status = status
        self.latency = latency
    }
}
