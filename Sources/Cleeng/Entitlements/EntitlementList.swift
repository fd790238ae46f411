import RelayCore

/// The entitlements of one customer, as far as their pages have been read.
///
/// An entitling item counts wherever it is. That a customer is not entitled needs the whole list, legible to its end.
struct EntitlementList {
    static let pageLimit = 100
    static let maximumPages = 10

    /// Elements read so far, legible or not: the offset of the next page.
    private(set) var elementCount = 0
    private var items: [EntitlementItem] = []
    private var pageCount = 0
    private var totalItemCount: Int?
    private var isLegible = true
    private var isComplete = false
    private var hasEnded = false

    /// Whether no page has been read.
    var isUnread: Bool { pageCount == 0 }

    /// Whether the next page is to be read.
    var hasNext: Bool { !hasEnded && pageCount < Self.maximumPages }

    /// Adds the page at offset ``elementCount``.
    mutating func append(_ page: EntitlementPage) {
        // The list changed between two reads if the total did, and an element may have been missed.
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

    /// What the list says about one offer.
    ///
    /// - Returns: a failure where it is not known whether the offer is entitled.
    func entitlement(to offer: OfferID) -> Result<OfferEntitlement, CleengTrouble> {
        let entitlement = OfferEntitlement(offer: offer, items: items)
        guard !entitlement.isEntitled else { return .success(entitlement) }
        guard isLegible else { return .failure(.unreadable) }
        guard isComplete else { return .failure(.incomplete) }
        guard items.allSatisfy({ $0.hasEnded || !$0.matches(offer) }) else { return .failure(.unknownStatus) }
        return .success(entitlement)
    }
}
