import Formats
public import RelayCore

/// Result of an entitlement read for several offers.
public struct EntitlementReply: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// An entry for each requested offer.
        case read([OfferID: OfferEntitlement])
        /// Our configuration is at fault; the purchase is kept.
        case misconfigured(message: String?)
        /// At least one offer is unknown. `retryAfter` is from 1 s to 1 h, if Cleeng sent it.
        case tryAgain(CleengTrouble, retryAfter: Duration?)
    }

    public var verdict: Verdict
    /// Status of the last response; nil if none came.
    public var status: Int?
    public var latency = Duration.zero
    /// The offers whose entitlement is known, even if another offer's is not.
    var known: [OfferID: OfferEntitlement] = [:]

    /// Verdict on one offer. An offer's entitlement may be known even if that of others is not.
    public func verdict(of offer: OfferID) -> Verdict {
        known[offer].map { Verdict.read([offer: $0]) } ?? verdict
    }
}

extension EntitlementReply {
    /// Combines the results of all offers.
    ///
    /// - Parameters:
    ///   - otherwise: verdict if an offer is unknown; by default the first failure, to be retried.
    ///   - read: returns the result for one offer.
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

/// Entitlement of a customer to one offer by one read, with its evidence. Small enough to be stored with each grant.
public struct OfferEntitlement: Sendable, Hashable {
    /// False means "not yet": Cleeng's reads never report that a purchase has failed. False requires a completely read
    /// answer.
    public var isEntitled: Bool
    public var source: EntitlementSource
    /// The offer's id in Cleeng's answer, or else the requested one.
    public var offerId: OfferID
    /// Cleeng's status, which may be unknown to the relay. Nil if the source has none.
    public var status: String?
    /// The latest end in seconds since 1970; nil if an entitling item has none, or none is known. Cleeng calls it
    /// approximate, so no decision uses it.
    public var expiresAt: Int64?
    /// The tags that had to be accessible, if the source is `accessible-tags`.
    public var tags: [TagID]?

    /// Evidence as JSON. Sorted keys give the same text for the same evidence.
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
    /// The entitlement to one offer by a customer's items. One entitling item is enough.
    ///
    /// The evidence is the entitling item with the latest end; no end counts as the latest. Without an entitling item
    /// it is the item with the latest end, so that operators can see the reason.
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
