import OutboundHTTP

/// What Cleeng made of a forwarded purchase.
public struct PaymentReply: Sendable, Equatable {
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

extension PaymentReply.Verdict {
    /// Sorts an answer to a forward by its status alone; of the body only code and message are taken, if it arrived.
    ///
    /// | status | verdict | why |
    /// | --- | --- | --- |
    /// | 2xx | accepted | Cleeng: "structure and content of the request is correct" |
    /// | 400, 422 | rejected | the only ones that speak of this very purchase |
    /// | 401, 403, 404 | misconfigured | token, rights or URL |
    /// | 3xx, 405, 406, 407, 410, 411, 415 | misconfigured | not the endpoint that we mean, or not as it was |
    /// | 408, 409, 425, 429, 5xx | try again | passing |
    /// | all else, 413 too | try again | may be due to this one purchase, so it must not stop the others |
    init(_ reply: HTTPReply, scrubber: MessageScrubber) {
        let said = UpstreamMessage(reply.wholeBody, scrubber: scrubber)
        switch reply.status {
        case 200..<300: self = .accepted(message: said.message)
        case 400, 422: self = .rejected(code: said.code, message: said.message)
        default:
            if StatusSorting.isMisconfiguration(reply.status) {
                self = .misconfigured(message: said.message)
            } else {
                self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: reply.headers.retryAfter())
            }
        }
    }
}
