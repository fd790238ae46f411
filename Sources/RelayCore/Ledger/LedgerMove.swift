/// The subscription goes on under another original transaction id.
public struct LedgerMove: Sendable, Hashable, Codable {
    public var to: TransactionID
    public var toldAt: Timestamp

    public init(to: TransactionID, toldAt: Timestamp) {
        self.to = to
        self.toldAt = toldAt
    }

    var rank: LedgerRank { LedgerRank(toldAt: toldAt, numbers: [], text: to.text) }
}
