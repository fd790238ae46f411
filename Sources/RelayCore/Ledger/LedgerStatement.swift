/// What one message says of one subscription: a notification, a receipt, an answer of the store. Any part may be missing.
public struct LedgerStatement: Sendable, Hashable, Codable {
    public var periods: [LedgerPeriod]
    public var renewal: LedgerRenewal?
    /// The store's end statement.
    public var end: LedgerEnd?
    /// Cleeng's end statement on each offer.
    public var cleeng: [OfferID: LedgerEnd] = [:]
    /// Cleeng granted access on it.
    public var granted: LedgerGrant?
    /// The subscription continues under another original transaction id from then on.
    public var movesTo: LedgerMove?
    /// The original transaction ids that it went by before.
    public var movesFrom: Set<TransactionID>
    /// When it was said that it goes by this id.
    public var isCurrentAt: Timestamp?
    /// When the customer, or the store, last changed whether it will renew.
    public var intentChangedAt: Timestamp?
    /// Whether nobody paid for it, unless the environment says so: what was taken in while the store was away stands
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

    /// The store, or Cleeng, no longer has it.
    public static func over(statedAt moment: Timestamp) -> LedgerStatement {
        LedgerStatement(end: LedgerEnd(isOver: true, statedAt: moment))
    }
}

/// Cleeng granted access on a subscription.
public struct LedgerGrant: Sendable, Hashable, Codable {
    /// The offer that was asked for.
    public var offer: OfferID
    /// When the read was sent that the grant rests on.
    public var at: Timestamp

    public init(offer: OfferID, at: Timestamp) {
        self.offer = offer
        self.at = at
    }

    var rank: LedgerRank { LedgerRank(statedAt: at, numbers: [], text: offer.text) }
}

/// The subscription continues under another original transaction id.
public struct LedgerMove: Sendable, Hashable, Codable {
    public var to: TransactionID
    public var statedAt: Timestamp

    private enum CodingKeys: String, CodingKey {
        case to
        case statedAt = "toldAt"
    }

    public init(to: TransactionID, statedAt: Timestamp) {
        self.to = to
        self.statedAt = statedAt
    }

    var rank: LedgerRank { LedgerRank(statedAt: statedAt, numbers: [], text: to.text) }
}

/// Where a word stands among others on the same thing. Total: of two different words one always stands higher, and it is the
/// same one in whatever order they arrive.
struct LedgerRank: Comparable {
    var statedAt: Timestamp
    /// For words of the same moment.
    var numbers: [Int64]
    var text: String

    static func number(_ flag: Bool?) -> Int64 { flag.map { $0 ? 1 : 2 } ?? 0 }

    static func < (left: LedgerRank, right: LedgerRank) -> Bool {
        if left.statedAt != right.statedAt { return left.statedAt < right.statedAt }
        if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
        return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// Somebody who knows said whether a subscription runs: the store in a notification, or Cleeng.
public struct LedgerEnd: Sendable, Hashable, Codable {
    public var isOver: Bool
    /// For an ended subscription, the end of the last period known to the source; a period that ends later is not
    /// meant. For a running one, its end as far as the source said. Nil: no bound.
    public var until: Timestamp?
    public var statedAt: Timestamp
    /// Number of the owner that Cleeng's statement is about. Nil for the store's statements, and for those stored
    /// before owners had numbers.
    public var ownerNo: Int32?

    private enum CodingKeys: String, CodingKey {
        case isOver, until, ownerNo
        case statedAt = "toldAt"
    }

    public init(isOver: Bool, until: Timestamp? = nil, statedAt: Timestamp) {
        self.isOver = isOver
        self.until = until
        self.statedAt = statedAt
    }

    /// A subscription that runs on an end that nobody has stated: one that was said to go on until the moment of the statement itself.
    public static func runs(statedAt moment: Timestamp) -> LedgerEnd {
        LedgerEnd(isOver: false, until: moment, statedAt: moment)
    }

    /// For how long a statement that names no end is taken as it is: what Cleeng takes back without telling is noticed after it.
    private static let trustedWithoutEnd = Duration.seconds(7 * 86_400)

    /// When Cleeng is to be asked again about a subscription that it says runs: at the end that it named; where that was over already, or is the
    /// moment of the statement, after the leeway; where it has no end, after a week.
    func asksAgainAt(leeway: Duration) -> Timestamp {
        guard let until else { return statedAt + Self.trustedWithoutEnd }
        return statedAt < until ? until : statedAt + leeway
    }

    /// Whether it says that this period, as stated, does not run.
    func ends(_ period: LedgerPeriod) -> Bool {
        isOver && statedAt >= period.statedAt && reaches(period)
    }

    /// Whether the statement can have meant this period.
    func reaches(_ period: LedgerPeriod) -> Bool { until.map { period.end <= $0 } ?? true }

    var rank: LedgerRank {
        LedgerRank(statedAt: statedAt, numbers: [isOver ? 1 : 0, until?.microseconds ?? .max], text: "")
    }
}

/// The latest statement on what follows the end of a subscription's period.
public struct LedgerRenewal: Sendable, Hashable, Codable {
    /// Nil if not stated.
    public var willRenew: Bool?
    /// The product that comes next: another one after a downgrade.
    public var productID: ProductID?
    /// The last payment failed, and Apple tries again, for sixty days.
    public var isInBillingRetry: Bool
    /// Until when access continues without payment.
    public var graceUntil: Timestamp?
    /// Apple's number for why it ended (1 cancelled, 2 not paid, 3 price not agreed to, 4 product gone, 5 other).
    public var expirationIntent: Int?
    /// Apple's number for the answer to a higher price (0 not yet, 1 agreed).
    public var priceConsent: Int?
    /// Why it will not renew, in the words of a store that says more than Apple's number; nil: that number says it.
    public var cancelationReason: CancelationReason?
    public var statedAt: Timestamp

    private enum CodingKeys: String, CodingKey {
        case willRenew, productID, isInBillingRetry, graceUntil, expirationIntent, priceConsent, cancelationReason
        case statedAt = "toldAt"
    }

    public init(
        willRenew: Bool?, productID: ProductID?, isInBillingRetry: Bool = false, graceUntil: Timestamp? = nil,
        expirationIntent: Int? = nil, priceConsent: Int? = nil, cancelationReason: CancelationReason? = nil,
        statedAt: Timestamp
    ) {
        self.willRenew = willRenew
        self.productID = productID
        self.isInBillingRetry = isInBillingRetry
        self.graceUntil = graceUntil
        self.expirationIntent = expirationIntent
        self.priceConsent = priceConsent
        self.cancelationReason = cancelationReason
        self.statedAt = statedAt
    }

    var rank: LedgerRank {
        LedgerRank(
            statedAt: statedAt,
            numbers: [
                // Of two words of one moment the one that knows of trouble: it was not there before.
                LedgerRank.number(willRenew), isInBillingRetry ? 1 : 0, graceUntil?.microseconds ?? .min,
                Int64(expirationIntent ?? -1), Int64(priceConsent ?? -1),
            ], text: [productID?.text, cancelationReason?.rawValue].map { $0 ?? "" }.joined(separator: "\n"))
    }
}
