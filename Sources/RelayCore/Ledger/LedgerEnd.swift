/// Somebody who knows said whether a subscription runs: the store in a notification or an answer, or Cleeng.
public struct LedgerEnd: Sendable, Hashable, Codable {
    public var isOver: Bool
    public var toldAt: Timestamp

    public init(isOver: Bool, toldAt: Timestamp) {
        self.isOver = isOver
        self.toldAt = toldAt
    }

    var rank: LedgerRank { LedgerRank(toldAt: toldAt, numbers: [isOver ? 1 : 0], text: "") }
}
