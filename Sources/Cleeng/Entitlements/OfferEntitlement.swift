/// Whether one offer is open to the customer, by one read.
public struct OfferEntitlement: Sendable, Hashable {
    /// False means "not yet": Cleeng's reads never say that a purchase has failed.
    public var isEntitled: Bool
    public var evidence: EntitlementEvidence

    /// The latest end in seconds since 1970; nil where an entitling item has none, or nothing is known.
    public var expiresAt: Int64? { evidence.expiresAt }
    /// Cleeng's word as it came.
    public var status: String? { evidence.status }

    public init(isEntitled: Bool, evidence: EntitlementEvidence) {
        self.isEntitled = isEntitled
        self.evidence = evidence
    }
}
