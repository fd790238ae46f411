/// A store's own offer by which something was bought, such as a free trial.
public struct StoreOffer: Sendable, Hashable, Codable {
    public var identifier: String?
    /// Apple's number: 1 introductory, 2 promotional, 3 by an offer code, 4 to win back.
    public var type: Int?
    /// Apple's text: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`, `ONE_TIME`.
    public var discountType: String?

    /// Nil if all arguments are nil.
    public init?(identifier: String?, type: Int?, discountType: String?) {
        guard identifier != nil || type != nil || discountType != nil else { return nil }
        self.identifier = identifier
        self.type = type
        self.discountType = discountType
    }
}

/// One transaction of a subscription: a paid or free period, by its latest statement.
public struct LedgerPeriod: Sendable, Hashable, Codable {
    /// The store's revocation of a paid period.
    public struct Revocation: Sendable, Hashable, Codable {
        public enum Kind: Int16, Sendable, Codable, CaseIterable {
            case refunded = 1
            /// The customer left the family, or sharing ended.
            case familyRevoked = 2
        }

        public var at: Timestamp
        public var kind: Kind
        /// Nil if the store gave no reason.
        public var reason: CancelationReason?

        public init(at: Timestamp, kind: Kind, reason: CancelationReason? = nil) {
            self.at = at
            self.kind = kind
            self.reason = reason
        }

        var cancelationReason: CancelationReason { reason ?? (kind == .refunded ? .customer : .system) }
    }

    /// Id of the period. It is the store's order line number if there is one (`web_order_line_item_id`), which is the
    /// same on devices and servers; else the transaction id.
    public var id: TransactionID
    public var productID: ProductID
    /// Whole seconds, since receipts have no fractions.
    public private(set) var purchasedAt: Timestamp
    /// Nil if it does not expire.
    public var expiresAt: Timestamp?
    public var revocation: Revocation?
    /// Whether a dearer product replaced it before its end. Then only its successor counts.
    public var isUpgraded: Bool
    /// Whether it is an upgrade, which ended the earlier purchases. Never unset.
    public var replacesEarlier: Bool
    /// Time of signing, or of the document that contains it.
    public var statedAt: Timestamp
    /// The store's own id of the transaction; nil if not stated.
    public var transactionID: TransactionID?
    /// Time of the subscription's first purchase.
    public var originalPurchasedAt: Timestamp?
    /// Whether it is a free trial; nil if not stated.
    public var isTrial: Bool?
    /// Whether it has an introductory price; nil if not stated.
    public var isIntro: Bool?
    /// The redeemed offer; nil if not stated.
    public var discountID: DiscountID?
    /// The base plan in the catalogue, `PRODUCT:BASEPLAN`, from a store that sells a product in several plans.
    public var planID: ProductID?
    /// Whether this product renews, if the store sells several in the subscription. Nil: the renewal of the whole counts.
    public var renews: Bool?
    /// The redeemed offer as the store describes it; nil if there was none, or it is not stated.
    public var storeOffer: StoreOffer?

    private enum CodingKeys: String, CodingKey {
        case id, productID, purchasedAt, expiresAt, revocation, isUpgraded, replacesEarlier, transactionID
        case originalPurchasedAt, isTrial, isIntro, discountID, storeOffer, renews, planID
        case statedAt = "toldAt"
    }

    public init(
        id: TransactionID, productID: ProductID, purchasedAt: Timestamp, expiresAt: Timestamp?,
        revocation: Revocation? = nil, isUpgraded: Bool = false, replacesEarlier: Bool = false, statedAt: Timestamp,
        transactionID: TransactionID? = nil, originalPurchasedAt: Timestamp? = nil, isTrial: Bool? = nil,
        isIntro: Bool? = nil,
        discountID: DiscountID? = nil
    ) {
        self.id = id
        self.productID = productID
        self.purchasedAt = purchasedAt.wholeSeconds
        self.expiresAt = expiresAt
        self.revocation = revocation
        self.isUpgraded = isUpgraded
        self.replacesEarlier = replacesEarlier
        self.statedAt = statedAt
        self.transactionID = transactionID
        self.originalPurchasedAt = originalPurchasedAt
        self.isTrial = isTrial
        self.isIntro = isIntro
        self.discountID = discountID
    }

    /// When the paid period ends by itself.
    var end: Timestamp { expiresAt ?? .distantFuture }

    /// Renewal statements made from this time on concern this period. The time may precede the purchase, since a store
    /// renews and reports up to a day before the period begins.
    var isKnownFrom: Timestamp { min(purchasedAt, statedAt) }

    /// Keeps the later of two statements about the same period. Between statements of the same moment ``rank`` decides,
    /// so that the order of arrival does not matter.
    mutating func merge(_ other: LedgerPeriod) {
        let replacesEarlier = replacesEarlier || other.replacesEarlier
        if other.rank > rank { self = other }
        self.replacesEarlier = replacesEarlier
    }

    private var rank: LedgerRank {
        LedgerRank(
            statedAt: statedAt,
            numbers: [
                revocation.map { $0.at.microseconds } ?? .min, revocation.map { Int64($0.kind.rawValue) } ?? 0,
                isUpgraded ? 1 : 0, end.microseconds, purchasedAt.microseconds,
                originalPurchasedAt?.microseconds ?? .min, LedgerRank.number(isTrial), LedgerRank.number(isIntro),
                LedgerRank.number(renews),
            ],
            text: [
                productID.text, transactionID?.text, discountID?.text, revocation?.reason?.rawValue,
                storeOffer?.identifier,
                storeOffer?.type.map(String.init), storeOffer?.discountType, planID?.text,
            ].map { $0 ?? "" }
                .joined(separator: "\n"))
    }
}
