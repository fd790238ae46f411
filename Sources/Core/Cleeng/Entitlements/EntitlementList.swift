import RelayCore

/// The entitlements of one customer, from the pages read so far.
///
/// One entitling item is enough to be entitled. "Not entitled" requires the complete list, with every element legible.
struct EntitlementList {
    static let pageLimit = 100
    static let maximumPages = 10

    /// Number of elements read so far, legible or not: the offset of the next page.
    private(set) var elementCount = 0
    private var items: [EntitlementItem] = []
    private var pageCount = 0
    private var totalItemCount: Int?
    private var isLegible = true
    private var isComplete = false
    private var hasEnded = false

    /// Whether no page has been read.
    var isUnread: Bool { pageCount == 0 }

    /// Whether the next page must be read.
    var hasNext: Bool { !hasEnded && pageCount < Self.maximumPages }

    /// Adds the page at offset ``elementCount``.
    mutating func append(_ page: EntitlementPage) {
        // A different total means that the list changed between two reads, and an element may have been missed.
        let agrees = isUnread || page.totalItemCount == totalItemCount
        isLegible = isLegible && page.isLegible && agrees
        pageCount += 1
        items += page.items
        elementCount += page.elementCount
        totalItemCount = page.totalItemCount
        if let totalItemCount {
            // A list longer than its own total contradicts itself.
            isComplete = elementCount == totalItemCount
            hasEnded = elementCount >= totalItemCount || page.elementCount == 0
        } else {
            isComplete = page.elementCount < Self.pageLimit
            hasEnded = isComplete
        }
    }

    /// The entitlement to one offer by this list.
    ///
    /// - Returns: a failure if the entitlement cannot be known.
    func entitlement(to offer: OfferID) -> Result<OfferEntitlement, CleengTrouble> {
        let entitlement = OfferEntitlement(offer: offer, items: items)
        guard !entitlement.isEntitled else { return .success(entitlement) }
        guard isLegible else { return .failure(.unreadable) }
        guard isComplete else { return .failure(.incomplete) }
        guard items.allSatisfy({ $0.hasEnded || !$0.matches(offer) }) else { return .failure(.unknownStatus) }
        return .success(entitlement)
    }
}
