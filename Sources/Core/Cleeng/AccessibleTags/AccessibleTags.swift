import OutboundHTTP
import RelayCore

/// The tags that a customer can access, as `getAccessibleTags` returns them.
struct AccessibleTags {
    /// The tags of a customer who is unknown to Cleeng.
    static let none = AccessibleTags(tags: [], isLegible: true)

    private let tags: Set<TagID>
    /// Whether every element of the list is a text.
    private let isLegible: Bool

    private init(tags: Set<TagID>, isLegible: Bool) {
        self.tags = tags
        self.isLegible = isLegible
    }

    /// Nil if the result contains no list of tags.
    init?(_ result: JSONValue) {
        guard let list = result["tags"]?.list else { return nil }
        let texts = list.compactMap(\.string).filter { !$0.isEmpty }
        self.init(tags: Set(texts.map { TagID($0) }), isLegible: texts.count == list.count)
    }

    /// The entitlement to one offer. Every needed tag must be accessible.
    ///
    /// - Returns: a failure if the entitlement cannot be known.
    func entitlement(to offer: OfferID, needed: [TagID]) -> Result<OfferEntitlement, CleengTrouble> {
        let isEntitled = !needed.isEmpty && needed.allSatisfy(tags.contains)
        guard isEntitled || isLegible else { return .failure(.unreadable) }
        return .success(
            OfferEntitlement(isEntitled: isEntitled, source: .accessibleTags, offerId: offer, tags: needed))
    }
}
