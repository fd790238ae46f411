extension LedgerStatement {
    /// Products that one statement lists side by side: each has its own end, and none replaces another.
    var items: Set<ProductID> {
        guard periods.count > 1 else { return [] }
        let candidates = periods.filter { !$0.isUpgraded && !$0.replacesEarlier }
        return Set(
            candidates.filter { one in
                candidates.contains {
                    $0.productID != one.productID && $0.statedAt == one.statedAt && $0.purchasedAt == one.purchasedAt
                }
            }.map(\.productID))
    }
}

/// Items: products that a store sells together in one subscription. Each statement of the store lists all that it still has.
extension SubscriptionLedger {
    /// Whether the store still lists an item. The store removed an item that its latest statement does not list.
    func isListed(_ period: LedgerPeriod) -> Bool {
        guard items?.contains(period.productID) == true else { return true }
        return lastStatementAt.map { period.statedAt >= $0 } ?? true
    }

    /// Every whole statement names the renewal. A purchase's own period is one item alone: it says nothing about the others.
    private var lastStatementAt: Timestamp? { renewal?.statedAt }

    /// The latest period of an item. Nil for a product that is not sold as an item.
    func item(_ product: ProductID) -> LedgerPeriod? {
        guard items?.contains(product) == true else { return nil }
        return periods.values.filter { $0.productID == product }
            .max { ($0.statedAt, $0.end, $0.id) < ($1.statedAt, $1.end, $1.id) }
    }

    /// The item that opens an offer by the catalogue; of several the one that ends last.
    func item(opening offer: OfferID) -> LedgerPeriod? {
        items?.filter { offers[$0] == offer }.compactMap(item).max { (itemEnd($0), $0.id) < (itemEnd($1), $1.id) }
    }

    /// When the item that opens an offer ends; nil where no item does, or where its period has no end.
    public func itemEnd(of offer: OfferID) -> Timestamp? {
        item(opening: offer).map(itemEnd).flatMap { $0 < .distantFuture ? $0 : nil }
    }

    /// The offers that items open by the catalogue.
    var itemOffers: Set<OfferID> { Set((items ?? []).compactMap { offers[$0] }) }

    /// When an item ends: by its own date, or when the store removed it.
    func itemEnd(_ period: LedgerPeriod) -> Timestamp {
        guard !isListed(period), let removed = lastStatementAt else { return period.end }
        return min(period.end, removed)
    }

    /// Whether an item ends together with the current one: then what is known of that one's renewal applies to both.
    func endsTogether(_ period: LedgerPeriod, with current: LedgerPeriod) -> Bool {
        period.revocation == nil && isListed(period) && period.end == current.end
    }

    /// Whether a statement says that the item is over: the store's on the subscription, or Cleeng's on the item's offer.
    func isEnded(_ item: LedgerPeriod) -> Bool { said(of: item)?.ends(item) ?? false }

    /// When the next item ends by its date; nil where none does.
    public func nextItemEnd(after now: Timestamp) -> Timestamp? {
        items?.compactMap(item).map(itemEnd).filter { $0 > now && $0 < .distantFuture }.min()
    }
}
