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

    var rank: LedgerRank { LedgerRank(toldAt: at, numbers: [], text: offer.text) }
}
