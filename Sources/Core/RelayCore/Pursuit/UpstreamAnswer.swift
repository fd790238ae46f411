/// Result of forwarding a purchase, by its meaning for the purchase.
public struct ForwardAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// Accepted as well formed. Not a grant.
        case accepted
        /// A connector already has or had a synchronization of this purchase.
        case duplicate
        /// Refused permanently; `code` and `message` are Cleeng's own.
        case rejected(code: String?, message: String?)
        /// The relay's token or address is wrong; the purchase is kept.
        case misconfigured(message: String?)
        case tryAgain(why: String, retryAfter: Duration?)
    }

    public var verdict: Verdict
    public var status: Int?
    public var latency: Duration
    /// Cleeng's name of the synchronization that a connector began; nil otherwise.
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

/// Result of an entitlement read for one offer of one customer.
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
    /// When the read was sent. It proves nothing about later events.
    public var observedAt: Timestamp
    /// Whether an entitlement without `expiresAt` has no end. False if the source never names an end.
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

/// Cleeng's answer about a synchronization.
public struct SynchronizationAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// `processing`, `retrying`.
        case running(String)
        case granted(evidence: String)
        /// Access to another offer than the purchased one.
        case grantedOther(offer: OfferID)
        /// Finished, without a statement about access.
        case unclear
        /// Cleeng's name of the result, in lower case.
        case refused(result: String)
        /// Cleeng does not know the synchronization.
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
