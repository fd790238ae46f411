/// What Cleeng said of a purchase of its own accord, or at the end of a synchronization.
public struct UpstreamStatement: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        case granted(expiresAt: Timestamp?, evidence: String)
        case refused(reason: String)
    }

    public var verdict: Verdict
    /// When it came.
    public var saidAt: Timestamp
    /// For the timeline.
    public var summary: String
    /// The synchronization that it is the end of; nil for any other word.
    public var synchronization: String?

    /// Cleeng passed the subscription to this customer.
    public var isTransfer: Bool

    /// The event may be about another of the customer's waiting purchases of the offer.
    public var isAmbiguous = false

    public var isGrant: Bool { if case .granted = verdict { true } else { false } }

    public init(
        _ verdict: Verdict, saidAt: Timestamp, summary: String, synchronization: String? = nil, isTransfer: Bool = false
    ) {
        self.verdict = verdict
        self.saidAt = saidAt
        self.summary = summary
        self.synchronization = synchronization
        self.isTransfer = isTransfer
    }
}
