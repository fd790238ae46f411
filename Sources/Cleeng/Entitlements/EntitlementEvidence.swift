public import RelayCore

/// What an answer about one offer rests on, small enough to be stored with each grant.
public struct EntitlementEvidence: Sendable, Hashable, Codable {
    public var source: EntitlementSource
    /// The offer as Cleeng named it; the one asked for where Cleeng names none.
    public var offerId: OfferID
    /// Cleeng's word, unknown ones included. Nil from a source that has none.
    public var status: String?
    /// Seconds since 1970. Approximate, as Cleeng says, and never the ground of a decision.
    public var expiresAt: Int64?
    /// The tags that had to be accessible, where the source is `accessible-tags`.
    public var tags: [TagID]?

    public init(
        source: EntitlementSource, offerId: OfferID, status: String? = nil, expiresAt: Int64? = nil,
        tags: [TagID]? = nil
    ) {
        self.source = source
        self.offerId = offerId
        self.status = status
        self.expiresAt = expiresAt
        self.tags = tags
    }
}
