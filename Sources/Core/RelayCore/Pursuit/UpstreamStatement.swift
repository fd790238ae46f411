/// Cleeng's statement about a purchase, in an event or at the end of a synchronization.
public struct UpstreamStatement: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        case granted(expiresAt: Timestamp?, evidence: String)
        case refused(reason: String)
    }

    public var verdict: Verdict
    /// Time of arrival.
    public var saidAt: Timestamp
    /// Text for the timeline.
    public var summary: String
    /// The finished synchronization; nil for any other statement.
    public var synchronization: String?

    /// Whether Cleeng moved the subscription to this customer.
    public var isTransfer: Bool

    /// Whether the event may concern another of the customer's waiting purchases of the offer.
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
