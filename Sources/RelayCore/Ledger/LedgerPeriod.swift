/// One transaction of a subscription: a time that was paid for or given, as it was told last.
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

        public init(at: Timestamp, kind: Kind) {
            self.at = at
            self.kind = kind
        }
    }

    /// What the period is known by: the number of its line in the order where the store gives one (`web_order_line_item_id`), which
    /// is the same on a device and on a server; else the transaction's.
    public var id: String
    public var productID: String
    /// In whole seconds, as receipts have it.
    public private(set) var purchasedAt: Timestamp
    /// Nil for what does not expire.
    public var expiresAt: Timestamp?
    public var revocation: Revocation?
    /// Replaced before its end by a dearer product: only its successor counts.
    public var isUpgraded: Bool
    /// It is an upgrade itself, and ended what was bought before it. Once told it stays so.
    public var replacesEarlier: Bool
    /// When it was signed, or what it stands in was made.
    public var toldAt: Timestamp

    public init(
        id: String, productID: String, purchasedAt: Timestamp, expiresAt: Timestamp?,
        revocation: Revocation? = nil, isUpgraded: Bool = false, replacesEarlier: Bool = false, toldAt: Timestamp
    ) {
        self.id = id
        self.productID = productID
        self.purchasedAt = Timestamp(
            seconds: purchasedAt.microseconds.floorDivided(by: 1_000_000))
        self.expiresAt = expiresAt
        self.revocation = revocation
        self.isUpgraded = isUpgraded
        self.replacesEarlier = replacesEarlier
        self.toldAt = toldAt
    }

    /// When what was paid for ends by itself.
    var end: Timestamp { expiresAt ?? .distantFuture }

    /// Which of two words on the same period counts: the later one; of two of the same moment always the same one, so that it
    /// does not matter which came first.
    mutating func hear(_ other: LedgerPeriod) {
        let replacesEarlier = replacesEarlier || other.replacesEarlier
        if other.rank > rank { self = other }
        self.replacesEarlier = replacesEarlier
    }

    private var rank: LedgerRank {
        LedgerRank(
            toldAt: toldAt,
            numbers: [
                revocation.map { $0.at.microseconds } ?? .min, revocation.map { Int64($0.kind.rawValue) } ?? 0,
                isUpgraded ? 1 : 0, end.microseconds, purchasedAt.microseconds,
            ], text: productID)
    }
}
