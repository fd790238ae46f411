import OutboundHTTP
import RelayCore

/// The tags that are open to a customer, as `getAccessibleTags` lists them.
struct AccessibleTags {
    /// The tags of a customer whom Cleeng does not know.
    static let none = AccessibleTags(tags: [], isLegible: true)

    private let tags: Set<TagID>
    /// Whether every element of the list is a text.
    private let isLegible: Bool

    private init(tags: Set<TagID>, isLegible: Bool) {
        self.tags = tags
        self.isLegible = isLegible
    }

    /// Nil for a result without a list of tags.
    init?(_ result: JSONValue) {
        guard let list = result["tags"]?.list else { return nil }
        let texts = list.compactMap(\.string).filter { !$0.isEmpty }
        self.init(tags: Set(texts.map { TagID($0) }), isLegible: texts.count == list.count)
    }

    /// What the tags say about one offer. All the tags that it needs have to be there.
    ///
    /// - Returns: a failure where it is not known whether the offer is entitled.
    func entitlement(to offer: OfferID, needed: [TagID]) -> Result<OfferEntitlement, CleengTrouble> {
        let isEntitled = !needed.isEmpty && needed.allSatisfy(tags.contains)
        guard isEntitled || isLegible else { return .failure(.unreadable) }
        return .success(
            OfferEntitlement(isEntitled: isEntitled, source: .accessibleTags, offerId: offer, tags: needed))
    }
}
