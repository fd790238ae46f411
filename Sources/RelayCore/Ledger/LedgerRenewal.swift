/// What is to become of a subscription at the end of its period, as it was told last.
public struct LedgerRenewal: Sendable, Hashable, Codable {
    /// Nil where it was not told.
    public var willRenew: Bool?
    /// The product that comes next: another one after a downgrade.
    public var productID: ProductID?
    /// The last payment failed, and Apple tries again, for sixty days.
    public var isInBillingRetry: Bool
    /// Until when access goes on although it was not paid.
    public var graceUntil: Timestamp?
    /// Apple's number for why it ended (1 cancelled, 2 not paid, 3 price not agreed to, 4 product gone, 5 other).
    public var expirationIntent: Int?
    /// Apple's number for the answer to a higher price (0 not yet, 1 agreed).
    public var priceConsent: Int?
    /// Why it will not renew, in the words of a store that says more than Apple's number; nil: that number says it.
    public var cancelationReason: CancelationReason?
    public var toldAt: Timestamp

    public init(
        willRenew: Bool?, productID: ProductID?, isInBillingRetry: Bool = false, graceUntil: Timestamp? = nil,
        expirationIntent: Int? = nil, priceConsent: Int? = nil, cancelationReason: CancelationReason? = nil,
        toldAt: Timestamp
    ) {
        self.willRenew = willRenew
        self.productID = productID
        self.isInBillingRetry = isInBillingRetry
        self.graceUntil = graceUntil
        self.expirationIntent = expirationIntent
        self.priceConsent = priceConsent
        self.cancelationReason = cancelationReason
        self.toldAt = toldAt
    }

    var rank: LedgerRank {
        LedgerRank(
            toldAt: toldAt,
            numbers: [
                // Of two words of one moment the one that knows of trouble: it was not there before.
                LedgerRank.number(willRenew), isInBillingRetry ? 1 : 0, graceUntil?.microseconds ?? .min,
                Int64(expirationIntent ?? -1), Int64(priceConsent ?? -1),
            ], text: [productID?.text, cancelationReason?.rawValue].map { $0 ?? "" }.joined(separator: "\n"))
    }
}
