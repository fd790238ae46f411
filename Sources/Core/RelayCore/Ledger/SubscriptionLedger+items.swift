extension LedgerStatement {
    /// Products that one statement lists side by side. Each has its own end, and none replaces another.
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

/// Items: products that a store sells together in one subscription. Each statement of the store lists all its remaining
/// items.
extension SubscriptionLedger {
    /// Whether the store still lists an item. The store removed an item that its latest complete statement lacks,
    /// unless that statement names only earlier purchases: Apple's about a late refund does.
    func isListed(_ period: LedgerPeriod) -> Bool {
        guard items?.contains(period.productID) == true, let last = lastStatementAt, period.statedAt < last else {
            return true
        }
        return !periods.values.contains { $0.statedAt >= last && $0.purchasedAt >= period.purchasedAt }
    }

    /// Time of the latest complete statement, which is one that also reports the renewal. A statement without a renewal
    /// covers only one item.
    private var lastStatementAt: Timestamp? { renewal?.statedAt }

    /// The latest period of an item. Nil for a product that is not sold as an item.
    func item(_ product: ProductID) -> LedgerPeriod? {
        guard items?.contains(product) == true else { return nil }
        return periods.values.filter { $0.productID == product }
            // The purchase time counts first, since a statement about an earlier purchase may be newer.
            .max { ($0.purchasedAt, $0.statedAt, $0.end, $0.id) < ($1.purchasedAt, $1.statedAt, $1.end, $1.id) }
    }

    /// The item whose product belongs to an offer in the catalogue; if there are several, the one that ends last.
    func item(opening offer: OfferID) -> LedgerPeriod? {
        items?.compactMap(item).filter { soldOffer(of: $0) == offer }
            .max { (itemEnd($0), $0.id) < (itemEnd($1), $1.id) }
    }

    /// When the item of an offer ends; nil if the offer has no item, or its period has no end.
    public func itemEnd(of offer: OfferID) -> Timestamp? {
        item(opening: offer).map(itemEnd).flatMap { $0 < .distantFuture ? $0 : nil }
    }

    /// The catalogue's offers of the items.
    var itemOffers: Set<OfferID> { Set((items ?? []).compactMap(item).compactMap(soldOffer)) }

    /// When an item ends: at its own date, or when the store removed it.
    func itemEnd(_ period: LedgerPeriod) -> Timestamp {
        guard !isListed(period), let removed = lastStatementAt else { return period.end }
        return min(period.end, removed)
    }

    /// Whether an item ends together with the current period. Then the current period's renewal statements apply to
    /// both.
    func endsTogether(_ period: LedgerPeriod, with current: LedgerPeriod) -> Bool {
        period.revocation == nil && isListed(period) && period.end == current.end
    }

    /// Whether a statement ends the item: the store's about the subscription, or Cleeng's about the item's offer.
    func isEnded(_ item: LedgerPeriod) -> Bool { said(of: item)?.ends(item) ?? false }

    /// Earliest future end of an item; nil if there is none.
    public func nextItemEnd(after now: Timestamp) -> Timestamp? {
        items?.compactMap(item).map(itemEnd).filter { $0 > now && $0 < .distantFuture }.min()
    }
}
