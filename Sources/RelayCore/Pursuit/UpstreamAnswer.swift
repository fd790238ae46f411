/// What came back from forwarding a purchase, sorted by what it means for the purchase.
public struct ForwardAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// Well formed, in Cleeng's eyes. Not a grant.
        case accepted
        /// Refused for good; `code` and `message` are Cleeng's own.
        case rejected(code: String?, message: String?)
        /// Our token or address is wrong: the purchase is kept.
        case misconfigured(message: String?)
        case tryAgain(why: String, retryAfter: Duration?)
    }

    public var verdict: Verdict
    public var status: Int?
    public var latency: Duration

    public init(_ verdict: Verdict, status: Int? = nil, latency: Duration = .zero) {
        self.verdict = verdict
        self.status = status
        self.latency = latency
    }
}

/// What an entitlement read said of one offer of one customer.
public struct EntitlementAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        case entitled(expiresAt: Timestamp?, evidence: String)
        case notEntitled(evidence: String)
        case misconfigured(message: String?)
        case tryAgain(why: String, retryAfter: Duration?)
    }

    public var verdict: Verdict
    public var status: Int?
    public var latency: Duration
    /// When the read was sent: it says nothing about what happened later.
    public var observedAt: Timestamp

    public init(_ verdict: Verdict, status: Int? = nil, latency: Duration = .zero, observedAt: Timestamp) {
        self.verdict = verdict
        self.status = status
        self.latency = latency
        self.observedAt = observedAt
    }
}
