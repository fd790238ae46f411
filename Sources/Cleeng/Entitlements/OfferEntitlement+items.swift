import RelayCore

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
