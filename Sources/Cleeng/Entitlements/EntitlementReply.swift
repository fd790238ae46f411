public import RelayCore

/// What an entitlement read told.
public struct EntitlementReply: Sendable, Equatable {
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

extension OfferEntitlement {
    /// What the items of a customer say about one offer: entitled if one of them entitles, whatever the others say.
    ///
    /// The evidence is the entitling item that ends last; one without an end ends after all others. Where none entitles,
    /// it is the item that ended last, so that ops can see why.
    init(offer: OfferID, items: [EntitlementItem]) {
        let mine = items.filter { $0.matches(offer) }
        let entitling = mine.filter(\.isEntitling)
        let witness =
            entitling.isEmpty
            ? mine.max { ($0.expiresAt ?? .min) < ($1.expiresAt ?? .min) }
            : entitling.max { ($0.expiresAt ?? .max) < ($1.expiresAt ?? .max) }
        let cleaned = witness?.status.flatMap(MessageScrubber(hiding: []).clean)
        self.init(
            isEntitled: !entitling.isEmpty,
            evidence: EntitlementEvidence(
                source: .entitlements, offerId: witness?.offerId ?? offer, status: cleaned,
                expiresAt: witness?.expiresAt))
    }
}

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
