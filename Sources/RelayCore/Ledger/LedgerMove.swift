/// The subscription goes on under another original transaction id.
public struct LedgerMove: Sendable, Hashable, Codable {
    public var to: String
    public var toldAt: Timestamp

    public init(to: String, toldAt: Timestamp) {
        self.to = to
        self.toldAt = toldAt
    }

    var rank: LedgerRank { LedgerRank(toldAt: toldAt, numbers: [], text: to) }
}
