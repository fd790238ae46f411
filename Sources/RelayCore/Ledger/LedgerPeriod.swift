/// An offer of the store's, by which something was bought.
public struct StoreOffer: Sendable, Hashable, Codable {
    public var identifier: String?
    /// With Apple's numbers: 1 introductory, 2 promotional, 3 by an offer code, 4 to win back.
    public var type: Int?
    /// As Apple writes it: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`, `ONE_TIME`.
    public var discountType: String?

    /// Nil where nothing is said.
    public init?(identifier: String?, type: Int?, discountType: String?) {
        guard identifier != nil || type != nil || discountType != nil else { return nil }
        self.identifier = identifier
        self.type = type
        self.discountType = discountType
    }
}

/// One transaction of a subscription: a paid or free time, by its latest statement.
public struct LedgerPeriod: Sendable, Hashable, Codable {
    /// Why what was paid for is taken away.
    public struct Revocation: Sendable, Hashable, Codable {
        public enum Kind: Int16, Sendable, Codable, CaseIterable {
            case refunded = 1
            /// A member of the family is one no longer, or nothing is shared any more.
            case familyRevoked = 2
        }

        public var at: Timestamp
        public var kind: Kind
        /// Nil where the store did not say why.
        public var reason: CancelationReason?

        public init(at: Timestamp, kind: Kind, reason: CancelationReason? = nil) {
            self.at = at
            self.kind = kind
            self.reason = reason
        }

        var cancelationReason: CancelationReason { reason ?? (kind == .refunded ? .customer : .system) }
    }

    /// What the period is known by: the number of its line in the order where the store gives one (`web_order_line_item_id`), which
    /// is the same on a device and on a server; else the transaction's.
    public var id: TransactionID
    public var productID: ProductID
    /// In whole seconds, as receipts have it.
    public private(set) var purchasedAt: Timestamp
    /// Nil for what does not expire.
    public var expiresAt: Timestamp?
    public var revocation: Revocation?
    /// Replaced before its end by a dearer product: only its successor counts.
    public var isUpgraded: Bool
    /// It is an upgrade itself, and ended what was bought before it. Once stated it stays so.
    public var replacesEarlier: Bool
    /// When it was signed, or what it stands in was made.
    public var statedAt: Timestamp
    /// The store's own number of the transaction; nil where nobody said.
    public var transactionID: TransactionID?
    /// When the subscription was bought for the first time.
    public var originalPurchasedAt: Timestamp?
    /// Whether it is free for a start; nil where nobody said, as for the next two.
    public var isTrial: Bool?
    /// Whether it is cheaper for a start.
    public var isIntro: Bool?
    /// The offer that was redeemed.
    public var discountID: DiscountID?
    /// The same as the store describes it; nil where there was none, or nobody said.
    public var storeOffer: StoreOffer?

    private enum CodingKeys: String, CodingKey {
        case id, productID, purchasedAt, expiresAt, revocation, isUpgraded, replacesEarlier, transactionID
        case originalPurchasedAt, isTrial, isIntro, discountID, storeOffer
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

    /// When what was paid for ends by itself.
    var end: Timestamp { expiresAt ?? .distantFuture }

    /// What was said of its renewal from then on is about this period: a store renews, and tells of it, up to a day before it begins.
    var isKnownFrom: Timestamp { min(purchasedAt, statedAt) }

    /// Which of two words on the same period counts: the later one; of two of the same moment always the same one, so that it
    /// does not matter which came first.
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
            ],
            text: [
                productID.text, transactionID?.text, discountID?.text, revocation?.reason?.rawValue,
                storeOffer?.identifier,
                storeOffer?.type.map(String.init), storeOffer?.discountType,
            ].map { $0 ?? "" }
                .joined(separator: "\n"))
    }
}
