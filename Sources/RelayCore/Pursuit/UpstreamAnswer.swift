/// What came back from forwarding a purchase, sorted by what it means for the purchase.
public struct ForwardAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// Well formed, in Cleeng's eyes. Not a grant.
        case accepted
        /// A connector has, or had, a synchronization of this purchase already.
        case duplicate
        /// Refused for good; `code` and `message` are Cleeng's own.
        case rejected(code: String?, message: String?)
        /// Our token or address is wrong: the purchase is kept.
        case misconfigured(message: String?)
        case tryAgain(why: String, retryAfter: Duration?)
    }

    public var verdict: Verdict
    public var status: Int?
    public var latency: Duration
    /// Cleeng's name for what a connector does about one that it took; nil otherwise.
    public var synchronization: String?

    public init(
        _ verdict: Verdict, status: Int? = nil, latency: Duration = .zero, synchronization: String? = nil
    ) {
        self.verdict = verdict
        self.status = status
        self.latency = latency
        self.synchronization = synchronization
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
    /// Whether entitled without `expiresAt` means entitled for ever. Where it is false, the source never names an end.
    public var namesEnds: Bool

    public init(
        _ verdict: Verdict, status: Int? = nil, latency: Duration = .zero, observedAt: Timestamp, namesEnds: Bool = true
    ) {
        self.verdict = verdict
        self.status = status
        self.latency = latency
        self.observedAt = observedAt
        self.namesEnds = namesEnds
    }
}

/// What Cleeng said of a synchronization.
public struct SynchronizationAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// `processing`, `retrying`.
        case running(String)
        case granted(evidence: String)
        /// Access to something else than was asked for.
        case grantedOther(offer: OfferID)
        /// At an end, without a word on access.
        case unclear
        /// In lower case, as Cleeng names the result.
        case refused(result: String)
        /// Cleeng knows of no such synchronization.
        case unknown
        case misconfigured(message: String?)
        case tryAgain(why: String, retryAfter: Duration?)
    }

    public var verdict: Verdict
    public var status: Int?
    public var latency: Duration
    /// When the read was sent.
    public var observedAt: Timestamp

    public init(_ verdict: Verdict, status: Int? = nil, latency: Duration = .zero, observedAt: Timestamp) {
        self.verdict = verdict
        self.status = status
        self.latency = latency
        self.observedAt = observedAt
    }
}
