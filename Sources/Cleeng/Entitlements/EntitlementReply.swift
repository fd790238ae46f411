import Formats
public import RelayCore

/// What an entitlement read said about the offers that were asked about.
public struct EntitlementReply: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// An entry for each offer that was asked about.
        case read([OfferID: OfferEntitlement])
        /// The fault is in our configuration; no purchase may suffer for it.
        case misconfigured(message: String?)
        /// At least one offer is not known. `retryAfter`, within 1 s and 1 h, where Cleeng asked for it.
        case tryAgain(CleengTrouble, retryAfter: Duration?)
    }

    public var verdict: Verdict
    /// Status of the last response; nil if none came.
    public var status: Int?
    public var latency = Duration.zero
    /// The offers that are known, also where another one is not.
    var known: [OfferID: OfferEntitlement] = [:]

    /// The verdict on one offer. It may be known although another offer of the same read is not.
    public func verdict(of offer: OfferID) -> Verdict {
        known[offer].map { Verdict.read([offer: $0]) } ?? verdict
    }
}

extension EntitlementReply {
    /// Puts together what is known of each offer.
    ///
    /// - Parameters:
    ///   - otherwise: the verdict where an offer is not known. By default the first offer's failure, to be tried again.
    ///   - read: what is known of one offer.
    init(
        _ offers: [OfferID], status: Int?, otherwise: Verdict? = nil,
        read: (OfferID) -> Result<OfferEntitlement, CleengTrouble>
    ) {
        var known: [OfferID: OfferEntitlement] = [:]
        var trouble: CleengTrouble?
        for offer in offers {
            switch read(offer) {
            case .success(let entitlement): known[offer] = entitlement
            case .failure(let failure): trouble = trouble ?? failure
            }
        }
        let unknown: Verdict? = trouble.map { otherwise ?? .tryAgain($0, retryAfter: nil) }
        self.init(verdict: unknown ?? .read(known), status: status, known: known)
    }
}

/// Whether one offer is open to the customer by one read, and what that rests on: small enough to be stored with each grant.
public struct OfferEntitlement: Sendable, Hashable {
    /// False means "not yet": Cleeng's reads never say that a purchase has failed. It rests on an answer that was read to its end.
    public var isEntitled: Bool
    public var source: EntitlementSource
    /// The offer as Cleeng named it; the one asked for where Cleeng names none.
    public var offerId: OfferID
    /// Cleeng's word, unknown ones included. Nil from a source that has none.
    public var status: String?
    /// The latest end in seconds since 1970; nil where an entitling item has none, or nothing is known. Approximate, as Cleeng says, and
    /// never the ground of a decision.
    public var expiresAt: Int64?
    /// The tags that had to be accessible, where the source is `accessible-tags`.
    public var tags: [TagID]?

    /// JSON. Keys sorted, so that the same evidence is the same text.
    public var evidence: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("expiresAt", expiresAt.map { Int($0) })
        writer.member("offerId", offerId)
        writer.member("source", source.rawValue)
        writer.member("status", status)
        if let tags {
            writer.beginArray("tags")
            for tag in tags { writer.value(tag) }
            writer.endArray()
        }
        writer.endObject()
        return writer.text
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
        self.init(
            isEntitled: !entitling.isEmpty, source: .entitlements, offerId: witness?.offerId ?? offer,
            status: witness?.status.flatMap(MessageScrubber(hiding: []).clean), expiresAt: witness?.expiresAt)
    }
}
