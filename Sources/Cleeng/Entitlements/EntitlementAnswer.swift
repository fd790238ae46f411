public import RelayCore

/// What an entitlement read told.
public struct EntitlementAnswer: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// An entry for each offer that was asked about.
        case read([OfferID: OfferEntitlement])
        /// The fault is in our configuration; no purchase may suffer for it.
        case misconfigured(message: String?)
        /// Nothing is known. `retryAfter`, within 1 s and 1 h, where Cleeng asked for it.
        case tryAgain(CleengTrouble, retryAfter: Duration?)
    }

    public var verdict: Verdict
    /// Of the last response; nil where none came.
    public var status: Int?
    public var latency: Duration
    /// What Cleeng said beside, for instance that it does not know the customer.
    public var note: String?
    /// The customer has more items than are read, so "not entitled" is less certain than usual.
    public var isTruncated: Bool

    public init(
        verdict: Verdict, status: Int?, latency: Duration = .zero, note: String? = nil, isTruncated: Bool = false
    ) {
        self.verdict = verdict
        self.status = status
        self.latency = latency
        self.note = note
        self.isTruncated = isTruncated
    }
}
