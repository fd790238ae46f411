/// What one message says of one subscription: a notification, a receipt, an answer of the store. Any part may be missing.
public struct LedgerWord: Sendable, Hashable, Codable {
    public var periods: [LedgerPeriod]
    public var renewal: LedgerRenewal?
    public var end: LedgerEnd?
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

    public init(
        periods: [LedgerPeriod] = [], renewal: LedgerRenewal? = nil, end: LedgerEnd? = nil, movesTo: LedgerMove? = nil,
        movesFrom: Set<TransactionID> = [], isCurrentAt: Timestamp? = nil,
        intentChangedAt: Timestamp? = nil, isTest: Bool? = nil
    ) {
        self.periods = periods
        self.renewal = renewal
        self.end = end
        self.movesTo = movesTo
        self.movesFrom = movesFrom
        self.isCurrentAt = isCurrentAt
        self.intentChangedAt = intentChangedAt
        self.isTest = isTest
    }
}
