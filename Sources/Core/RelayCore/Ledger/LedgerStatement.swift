/// Statements of one message about one subscription: a notification, a receipt, a store's answer. Any part may be
/// missing.
public struct LedgerStatement: Sendable, Hashable, Codable {
    public var periods: [LedgerPeriod]
    /// End of everything in a store's answer about the whole subscription; nil if this is not one.
    public var bound: LedgerBound?
    public var renewal: LedgerRenewal?
    /// The store's end statement.
    public var end: LedgerEnd?
    /// Orders that the store has paid back, according to its notifications.
    public var refunds: [LedgerRefund] = []
    /// Cleeng's end statement on each offer.
    public var cleeng: [OfferID: LedgerEnd] = [:]
    /// Cleeng's grant of access on it.
    public var granted: LedgerGrant?
    /// Its continuation under another original transaction id.
    public var movesTo: LedgerMove?
    /// Its earlier original transaction ids.
    public var movesFrom: Set<TransactionID>
    /// When a source stated that the earlier ids moved here.
    public var movedAt: Timestamp?
    /// When a source stated that this id is the present one, although it had moved to another before. Nil for a store
    /// whose ids never become present again: its answer about a replaced id also names the earlier ones.
    public var isCurrentAt: Timestamp?
    /// When the customer or the store last changed whether it will renew.
    public var intentChangedAt: Timestamp?
    /// Whether it is a test purchase that was not paid for; nil if not stated. The environment does not show it if the
    /// purchase was stored during an outage of its store: it is then `unknown`.
    public var isTest: Bool?

    /// Excludes Cleeng's statements and refunds: a stored answer of a store contains none.
    private enum CodingKeys: CodingKey {
        case periods, bound, renewal, end, movesTo, movesFrom, movedAt, isCurrentAt, intentChangedAt, isTest
    }

    public init(
        periods: [LedgerPeriod] = [], bound: LedgerBound? = nil, renewal: LedgerRenewal? = nil, end: LedgerEnd? = nil,
        cleeng: [OfferID: LedgerEnd] = [:], granted: LedgerGrant? = nil, movesTo: LedgerMove? = nil,
        movesFrom: Set<TransactionID> = [], movedAt: Timestamp? = nil, isCurrentAt: Timestamp? = nil,
        intentChangedAt: Timestamp? = nil, isTest: Bool? = nil
    ) {
        self.periods = periods
        self.bound = bound
        self.renewal = renewal
        self.end = end
        self.cleeng = cleeng
        self.granted = granted
        self.movesTo = movesTo
        self.movesFrom = movesFrom
        self.movedAt = movedAt
        self.isCurrentAt = isCurrentAt
        self.intentChangedAt = intentChangedAt
        self.isTest = isTest
    }

    /// A statement that the store, or Cleeng, no longer has the subscription.
    public static func over(statedAt moment: Timestamp) -> LedgerStatement {
        LedgerStatement(end: LedgerEnd(isOver: true, statedAt: moment))
    }
}

/// A store's answer about a whole subscription names the present order only. An order that it named before, and does
/// not any more, ends by then too: it may have been voided.
public struct LedgerBound: Sendable, Hashable, Codable {
    public var until: Timestamp
    public var statedAt: Timestamp

    public init(until: Timestamp, statedAt: Timestamp) {
        self.until = until
        self.statedAt = statedAt
    }

    var rank: LedgerRank { LedgerRank(statedAt: statedAt, numbers: [until.microseconds], text: "") }
}

extension LedgerPeriod {
    func bounded(by bound: LedgerBound) -> LedgerPeriod {
        guard statedAt < bound.statedAt, end > bound.until else { return self }
        var bounded = self
        bounded.expiresAt = bound.until
        return bounded
    }
}

/// Cleeng's grant of access on a subscription.
public struct LedgerGrant: Sendable, Hashable, Codable {
    /// The granted offer.
    public var offer: OfferID
    /// When the entitlement read behind the grant was sent.
    public var at: Timestamp

    public init(offer: OfferID, at: Timestamp) {
        self.offer = offer
        self.at = at
    }

    var rank: LedgerRank { LedgerRank(statedAt: at, numbers: [], text: offer.text) }
}

/// A subscription's continuation under another original transaction id.
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

/// Order of statements about the same thing, from the oldest to the newest. It is total, so the order of arrival never
/// decides which one counts.
struct LedgerRank: Comparable {
    var statedAt: Timestamp
    /// Decides between statements of the same moment.
    var numbers: [Int64]
    var text: String

    static func number(_ flag: Bool?) -> Int64 { flag.map { $0 ? 1 : 2 } ?? 0 }

    static func < (left: LedgerRank, right: LedgerRank) -> Bool {
        if left.statedAt != right.statedAt { return left.statedAt < right.statedAt }
        if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
        return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// Statement of the store or of Cleeng whether a subscription runs or is over.
public struct LedgerEnd: Sendable, Hashable, Codable {
    public var isOver: Bool
    /// For an ended subscription, the end of the last period known to the source; the statement does not apply to a
    /// period that ends later. For a running one, its end as far as the source stated it. Nil: no bound.
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

    /// A statement that a subscription runs, without an end. ``until`` is then the moment of the statement itself.
    public static func runs(statedAt moment: Timestamp) -> LedgerEnd {
        LedgerEnd(isOver: false, until: moment, statedAt: moment)
    }

    /// How long a statement without an end is trusted: Cleeng may withdraw access without an event.
    private static let trustedWithoutEnd = Duration.seconds(7 * 86_400)

    /// When to ask Cleeng again about a subscription that runs by this statement: at the stated end; a leeway after the
    /// statement if that end had passed by then; a week after it if no end was stated.
    func asksAgainAt(leeway: Duration) -> Timestamp {
        guard let until else { return statedAt + Self.trustedWithoutEnd }
        return statedAt < until ? until : statedAt + leeway
    }

    /// Whether it ends this period. A newer statement about the period itself takes precedence.
    func ends(_ period: LedgerPeriod) -> Bool {
        isOver && statedAt >= period.statedAt && reaches(period)
    }

    /// Whether the statement applies to this period.
    func reaches(_ period: LedgerPeriod) -> Bool { until.map { period.end <= $0 } ?? true }

    var rank: LedgerRank {
        LedgerRank(statedAt: statedAt, numbers: [isOver ? 1 : 0, until?.microseconds ?? .max], text: "")
    }
}

/// The latest statement about a subscription's renewal after its current period.
public struct LedgerRenewal: Sendable, Hashable, Codable {
    /// Nil if not stated.
    public var willRenew: Bool?
    /// The product that comes next: another one after a downgrade.
    public var productID: ProductID?
    /// Whether the last payment failed and Apple still retries it, for sixty days.
    public var isInBillingRetry: Bool
    /// End of the grace period, in which access continues without payment.
    public var graceUntil: Timestamp?
    /// Apple's number for the reason of the end (1 cancelled, 2 not paid, 3 price not agreed to, 4 product gone, 5
    /// other).
    public var expirationIntent: Int?
    /// Apple's number for the customer's answer to a price increase (0 not yet, 1 agreed).
    public var priceConsent: Int?
    /// Why it will not renew, from a store that states more than Apple's number. Nil: that number decides.
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
                // Between statements of the same moment, the one that reports a problem wins, since it is the newer
                // state.
                LedgerRank.number(willRenew), isInBillingRetry ? 1 : 0, graceUntil?.microseconds ?? .min,
                Int64(expirationIntent ?? -1), Int64(priceConsent ?? -1),
            ], text: [productID?.text, cancelationReason?.rawValue].map { $0 ?? "" }.joined(separator: "\n"))
    }
}
