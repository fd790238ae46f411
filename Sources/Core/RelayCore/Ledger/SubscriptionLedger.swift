/// The state of one subscription, computed from statements that arrive in any order and any number of times.
///
/// Keeps the latest statement on each transaction, on renewal and on the end, ranked by the time of the statement and
/// not of its arrival. ``state(at:leeway:)`` derives the status on demand, for a given time. So the result does not
/// depend on the order of arrival.
public struct SubscriptionLedger: Sendable, Hashable, Codable {
    /// The periods as stated, by ``LedgerPeriod/id``.
    private var stated: [TransactionID: LedgerPeriod] = [:]
    /// The store's newest answer about the whole subscription; nil if it has none, as Apple.
    private var bound: LedgerBound?
    /// The newest refund of each order.
    private var refunds: [TransactionID: LedgerRefund] = [:]
    public private(set) var renewal: LedgerRenewal?
    /// The store's end statement, and Cleeng's from before its statements were stored by offer.
    public private(set) var end: LedgerEnd?
    /// Cleeng's latest statement on each offer.
    public private(set) var cleeng: [OfferID: LedgerEnd] = [:]
    /// Offer of each product by the catalogue, as of the last update.
    public private(set) var offers: [ProductID: OfferID] = [:]
    /// Offer and time of the newest grant; decides for products that are not in the catalogue.
    public private(set) var granted: LedgerGrant?
    /// Latest statement about the id that the subscription moved to.
    private var move: LedgerMove?
    /// Time of the latest statement that the subscription moved to this id.
    private var currentAt: Timestamp?
    /// Former ids, which moved here directly or through others.
    public private(set) var movedFrom: Set<TransactionID> = []
    /// Time of the last change of renewal; nil if not stated.
    public private(set) var intentChangedAt: Timestamp?
    /// Whether the store states that it is a test purchase that was not paid for; nil if not stated. It never changes.
    public private(set) var isTest: Bool?
    /// Products that the store sells together in this subscription, as Google does with add-ons. Nil if it sells one at
    /// a time.
    public private(set) var items: Set<ProductID>?
    /// When the store first stated that this one is over because another replaced it.
    private(set) var replacedAt: Timestamp?

    /// Only the newest periods are kept; the others ended long ago.
    public static let mostPeriods = 24
    public static let mostPredecessors = 16
    public static let mostOffers = 16

    private enum CodingKeys: String, CodingKey {
        case stated = "periods"
        case bound, refunds, renewal, end, cleeng, offers, granted, move, currentAt, movedFrom, intentChangedAt, isTest
        case items, replacedAt
    }

    public init() {}

    /// Rows written by an earlier version lack some fields.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        stated = try values.decode([TransactionID: LedgerPeriod].self, forKey: .stated)
        bound = try values.decodeIfPresent(LedgerBound.self, forKey: .bound)
        refunds = try values.decodeIfPresent([TransactionID: LedgerRefund].self, forKey: .refunds) ?? [:]
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
        replacedAt = try values.decodeIfPresent(Timestamp.self, forKey: .replacedAt)
    }

    /// The stored periods by ``LedgerPeriod/id``. None that was stated before the store's newest answer outlives it, and
    /// those whose order was refunded are revoked.
    public var periods: [TransactionID: LedgerPeriod] {
        guard bound != nil || !refunds.isEmpty else { return stated }
        return stated.mapValues { period in
            let bounded = bound.map { period.bounded(by: $0) } ?? period
            guard let refund = refunds[period.order], !isInGrace(period) else { return bounded }
            return bounded.refunded(by: refund)
        }
    }

    /// Whether the store still gives access to the period's order, which was not paid: its date has passed then.
    private func isInGrace(_ period: LedgerPeriod) -> Bool {
        renewal.map { said in said.statedAt == period.statedAt && said.graceUntil.map { $0 > said.statedAt } ?? false }
            ?? false
    }

    /// Sets the offers of this subscription's products from the catalogue.
    ///
    /// - Parameter catalogue: each product's offers. If there are several, the granted one counts, else the first.
    public mutating func setOffers(_ catalogue: [ProductID: [OfferID]]) {
        offers = Dictionary(
            uniqueKeysWithValues: products.compactMap { product in
                guard let known = catalogue[product], let first = known.min() else { return nil }
                return (product, granted.flatMap { known.contains($0.offer) ? $0.offer : nil } ?? first)
            })
    }

    /// Store offer of the newest period.
    public var storeOffer: StoreOffer? {
        periods.values.max(by: Self.isOlder)?.storeOffer
    }

    /// Products and base plans to look up in the catalogue.
    public var products: Set<ProductID> {
        stated.values.reduce(into: []) { products, period in
            products.insert(period.productID)
            if let plan = period.planID { products.insert(plan) }
        }
    }

    /// The catalogue's offer of a period's product: its base plan's, if the catalogue has that. Nil if it has none.
    func soldOffer(of period: LedgerPeriod) -> OfferID? {
        period.planID.flatMap { offers[$0] } ?? offers[period.productID]
    }

    /// The same; the offer of the newest grant if the catalogue has none.
    public func offer(of period: LedgerPeriod?) -> OfferID? { period.flatMap(soldOffer) ?? granted?.offer }

    /// Present id of the subscription; nil if this id is the present one.
    public var movedTo: TransactionID? {
        guard let move, currentAt.map({ $0 < move.statedAt }) ?? true else { return nil }
        return move.to
    }

    /// When the subscription moved to ``movedTo``.
    var movedAt: Timestamp? { movedTo == nil ? nil : move?.statedAt }

    /// Whether nothing is known of this id, but that it moved to another.
    var isOnlyLinked: Bool {
        movedTo != nil && stated.isEmpty && renewal == nil && end == nil && movedFrom.isEmpty
    }

    /// End of the last known period; nil if no period is known, or one has no end.
    public var lastKnownEnd: Timestamp? {
        periods.values.contains { $0.expiresAt == nil } ? nil : periods.values.compactMap(\.expiresAt).max()
    }

    /// Removes Cleeng's statements about earlier owners. Cleeng entitles a customer, so a statement does not apply to
    /// the next owner.
    public mutating func keepStatements(aboutOwner number: Int32) {
        cleeng = cleeng.filter { $0.value.ownerNo.map { $0 == number } ?? true }
    }

    /// Removes everything that Cleeng stated.
    mutating func forgetCleeng() { (cleeng, granted) = ([:], nil) }

    mutating func forgetPeriods() { stated = [:] }

    public mutating func apply(_ statement: LedgerStatement) {
        let sold = statement.items
        if !sold.isEmpty { items = sold.union(items ?? []) }
        for period in statement.periods { apply(period) }
        if let new = statement.bound, bound.map({ new.rank > $0.rank }) ?? true { bound = new }
        for new in statement.refunds { apply(new) }
        if let new = statement.renewal, renewal.map({ new.rank > $0.rank }) ?? true { renewal = new }
        if let new = statement.end, new.isOver, statement.renewal?.cancelationReason == .replaced {
            replacedAt = min(replacedAt ?? new.statedAt, new.statedAt)
        }
        if let new = statement.end, end.map({ new.rank > $0.rank }) ?? true { end = new }
        for (offer, new) in statement.cleeng where cleeng[offer].map({ new.rank > $0.rank }) ?? true {
            cleeng[offer] = new
        }
        while cleeng.count > Self.mostOffers,
            let oldest = cleeng.min(by: { ($0.value.statedAt, $0.key) < ($1.value.statedAt, $1.key) })
        {
            cleeng[oldest.key] = nil
        }
        if let new = statement.granted, granted.map({ new.rank > $0.rank }) ?? true { granted = new }
        if let new = statement.movesTo, move.map({ new.rank > $0.rank }) ?? true { move = new }
        if let new = statement.isCurrentAt { currentAt = max(currentAt ?? new, new) }
        if let new = statement.intentChangedAt { intentChangedAt = max(intentChangedAt ?? new, new) }
        if let new = statement.isTest { isTest = new }
        movedFrom.formUnion(statement.movesFrom)
        while movedFrom.count > Self.mostPredecessors, let least = movedFrom.min(by: { $0.isLower(than: $1) }) {
            movedFrom.remove(least)
        }
    }

    private mutating func apply(_ refund: LedgerRefund) {
        guard let order = refund.order, refunds[order].map({ refund.rank > $0.rank }) ?? true else { return }
        refunds[order] = refund
        guard refunds.count > Self.mostPeriods else { return }
        let oldest = refunds.min { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
        if let oldest { refunds[oldest.key] = nil }
    }

    private mutating func apply(_ period: LedgerPeriod) {
        stated[period.id, default: period].merge(period)
        guard stated.count > Self.mostPeriods else { return }
        let oldest = stated.values.min(by: Self.isOlder)
        if let oldest { stated[oldest.id] = nil }
    }
}
