/// What one message says of one subscription: a notification, a receipt, an answer of the store. Any part may be missing.
public struct LedgerWord: Sendable, Hashable, Codable {
    public var periods: [LedgerPeriod]
    public var renewal: LedgerRenewal?
    /// Of the store.
    public var end: LedgerEnd?
    /// Of Cleeng, on each offer.
    public var cleeng: [OfferID: LedgerEnd] = [:]
    /// Cleeng granted access on it.
    public var granted: LedgerGrant?
    /// The subscription goes on under another original transaction id from then on.
    public var movesTo: LedgerMove?
    /// The original transaction ids that it went by before.
    public var movesFrom: Set<TransactionID>
    /// When it was said that it goes by this id.
    public var isCurrentAt: Timestamp?
    /// When the customer, or the store, last changed whether it will renew.
    public var intentChangedAt: Timestamp?
    /// Whether nobody paid for it, as far as that is not told by the environment: what was taken in while the store was away stands
    /// under `unknown`. Nil where nobody says.
    public var isTest: Bool?

    /// Cleeng's words are no part of what is kept beside a subscription that a store was asked about.
    private enum CodingKeys: CodingKey {
        case periods, renewal, end, movesTo, movesFrom, isCurrentAt, intentChangedAt, isTest
    }

    public init(
        periods: [LedgerPeriod] = [], renewal: LedgerRenewal? = nil, end: LedgerEnd? = nil,
        cleeng: [OfferID: LedgerEnd] = [:], granted: LedgerGrant? = nil, movesTo: LedgerMove? = nil,
        movesFrom: Set<TransactionID> = [], isCurrentAt: Timestamp? = nil,
        intentChangedAt: Timestamp? = nil, isTest: Bool? = nil
    ) {
        self.periods = periods
        self.renewal = renewal
        self.end = end
        self.cleeng = cleeng
        self.granted = granted
        self.movesTo = movesTo
        self.movesFrom = movesFrom
        self.isCurrentAt = isCurrentAt
        self.intentChangedAt = intentChangedAt
        self.isTest = isTest
    }
}
