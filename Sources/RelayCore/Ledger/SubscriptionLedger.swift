/// The life of one subscription, put together from words that come in any order and any number of times.
///
/// It keeps the latest word on each thing, by when it was said and never by when it arrived: on each transaction, on renewal,
/// on whether it is over. What follows from them is worked out when it is asked for (``standing(at:leeway:)``), with the time
/// of the question, so that nothing depends on the way there.
public struct SubscriptionLedger: Sendable, Hashable, Codable {
    /// The stored periods by ``LedgerPeriod/id``.
    public private(set) var periods: [TransactionID: LedgerPeriod] = [:]
    public private(set) var renewal: LedgerRenewal?
    /// The store's end statement, and Cleeng's from before its statements were stored by offer.
    public private(set) var end: LedgerEnd?
    /// Cleeng's last word on each offer.
    public private(set) var cleeng: [OfferID: LedgerEnd] = [:]
    /// Offer of each product, as the catalogue had it at the last update.
    public private(set) var offers: [ProductID: OfferID] = [:]
    /// The offer of the newest grant, for products that no catalogue knows, and when Cleeng granted.
    public private(set) var granted: LedgerGrant?
    /// Where it was last said to have moved to.
    private var move: LedgerMove?
    /// When it was last said to have moved here.
    private var currentAt: Timestamp?
    /// What has moved here, directly or by others in between.
    public private(set) var movedFrom: Set<TransactionID> = []
    /// Time of the last change of renewal; nil if not stated.
    public private(set) var intentChangedAt: Timestamp?
    /// Whether the store says that nobody paid for it; nil where none did. It never changes.
    public private(set) var isTest: Bool?
    /// Products that the store sells together in this subscription, as Google does with add-ons. Nil where it sells one at a time.
    public private(set) var items: Set<ProductID>?

    /// The newest periods are kept; the others are long over.
    public static let mostPeriods = 24
    public static let mostPredecessors = 16
    public static let mostOffers = 16

    public init() {}

    /// Rows of the version before lack some of it.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        periods = try values.decode([TransactionID: LedgerPeriod].self, forKey: .periods)
        renewal = try values.decodeIfPresent(LedgerRenewal.self, forKey: .renewal)
        end = try values.decodeIfPresent(LedgerEnd.self, forKey: .end)
        cleeng = try values.decodeIfPresent([OfferID: LedgerEnd].self, forKey: .cleeng) ?? [:]
        offers = try values.decodeIfPresent([ProductID: OfferID].self, forKey: .offers) ?? [:]
        granted = try values.decodeIfPresent(LedgerGrant.self, forKey: .granted)
        move = try values.decodeIfPresent(LedgerMove.self, forKey: .move)
        currentAt = try values.decodeIfPresent(Timestamp.self, forKey: .currentAt)
        movedFrom = try values.decode(Set<TransactionID>.self, forKey: .movedFrom)
        intentChangedAt = try values.decodeIfPresent(Timestamp.self, forKey: .intentChangedAt)
        isTest = try values.decodeIfPresent(Bool.self, forKey: .isTest)
        items = try values.decodeIfPresent(Set<ProductID>.self, forKey: .items)
    }

    /// The catalogue, as far as it concerns this subscription.
    ///
    /// - Parameter offers: of each product the offers that it is sold by. Of several the one that was granted counts, else the first.
    public mutating func setOffers(_ catalogue: [ProductID: [OfferID]]) {
        offers = Dictionary(
            uniqueKeysWithValues: Set(periods.values.map(\.productID)).compactMap { product in
                guard let known = catalogue[product], let first = known.min() else { return nil }
                return (product, granted.flatMap { known.contains($0.offer) ? $0.offer : nil } ?? first)
            })
    }

    /// Store offer of the newest period.
    public var storeOffer: StoreOffer? {
        periods.values.max { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }?.storeOffer
    }

    public var products: Set<ProductID> { Set(periods.values.map(\.productID)) }

    /// The offer that a product is sold by; that of the newest grant where no catalogue says.
    public func offer(of product: ProductID?) -> OfferID? { product.flatMap { offers[$0] } ?? granted?.offer }

    /// The subscription's present id; nil if it still has this one, or has it again.
    public var movedTo: TransactionID? {
        guard let move, currentAt.map({ $0 < move.statedAt }) ?? true else { return nil }
        return move.to
    }

    /// The end of the last period that is known of; nil where none is, or one never ends.
    public var lastKnownEnd: Timestamp? {
        periods.values.contains { $0.expiresAt == nil } ? nil : periods.values.compactMap(\.expiresAt).max()
    }

    /// Removes Cleeng's statements about earlier owners. Cleeng entitles a customer, so a statement says nothing about the next owner.
    public mutating func keepStatements(aboutOwner number: Int32) {
        cleeng = cleeng.filter { $0.value.ownerNo.map { $0 == number } ?? true }
    }

    public mutating func apply(_ word: LedgerStatement) {
        let sold = word.items
        if !sold.isEmpty { items = sold.union(items ?? []) }
        for period in word.periods { apply(period) }
        if let new = word.renewal, renewal.map({ new.rank > $0.rank }) ?? true { renewal = new }
        if let new = word.end, end.map({ new.rank > $0.rank }) ?? true { end = new }
        for (offer, new) in word.cleeng where cleeng[offer].map({ new.rank > $0.rank }) ?? true {
            cleeng[offer] = new
        }
        while cleeng.count > Self.mostOffers,
            let oldest = cleeng.min(by: { ($0.value.statedAt, $0.key) < ($1.value.statedAt, $1.key) })
        {
            cleeng[oldest.key] = nil
        }
        if let new = word.granted, granted.map({ new.rank > $0.rank }) ?? true { granted = new }
        if let new = word.movesTo, move.map({ new.rank > $0.rank }) ?? true { move = new }
        if let new = word.isCurrentAt { currentAt = max(currentAt ?? new, new) }
        if let new = word.intentChangedAt { intentChangedAt = max(intentChangedAt ?? new, new) }
        if let new = word.isTest { isTest = new }
        movedFrom.formUnion(word.movesFrom)
        while movedFrom.count > Self.mostPredecessors, let least = movedFrom.min(by: { $0.isLower(than: $1) }) {
            movedFrom.remove(least)
        }
    }

    private mutating func apply(_ period: LedgerPeriod) {
        periods[period.id, default: period].merge(period)
        guard periods.count > Self.mostPeriods else { return }
        let oldest = periods.values.min { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }
        if let oldest { periods[oldest.id] = nil }
    }
}
