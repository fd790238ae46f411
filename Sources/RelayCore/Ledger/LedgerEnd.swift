/// Somebody who knows said whether a subscription runs: the store in a notification, or Cleeng.
public struct LedgerEnd: Sendable, Hashable, Codable {
    public var isOver: Bool
    /// Of one that is over: the end of the last period that whoever said so knew of. A period that goes beyond it was not
    /// meant. Of one that goes on: until when, as far as that was said. Nil: no such bound.
    public var until: Timestamp?
    public var toldAt: Timestamp

    public init(isOver: Bool, until: Timestamp? = nil, toldAt: Timestamp) {
        self.isOver = isOver
        self.until = until
        self.toldAt = toldAt
    }

    /// A subscription that runs on an end that nobody has stated: one that was said to go on until the moment of the statement itself.
    public static func runs(statedAt moment: Timestamp) -> LedgerEnd {
        LedgerEnd(isOver: false, until: moment, toldAt: moment)
    }

    /// For how long a statement that names no end is taken as it is: what Cleeng takes back without telling is noticed after it.
    private static let trustedWithoutEnd = Duration.seconds(7 * 86_400)

    /// When Cleeng is to be asked again about what it says goes on: at the end that it named; where that was over already, or is the
    /// moment of the statement, after the leeway; where it has no end, after a week.
    func asksAgainAt(leeway: Duration) -> Timestamp {
        guard let until else { return toldAt + Self.trustedWithoutEnd }
        return toldAt < until ? until : toldAt + leeway
    }

    /// Whether it says that this period, as it was told, does not run.
    func ends(_ period: LedgerPeriod) -> Bool {
        isOver && toldAt >= period.toldAt && reaches(period)
    }

    /// Whether whoever said so can have meant this period.
    func reaches(_ period: LedgerPeriod) -> Bool { until.map { period.end <= $0 } ?? true }

    var rank: LedgerRank {
        LedgerRank(toldAt: toldAt, numbers: [isOver ? 1 : 0, until?.microseconds ?? .max], text: "")
    }
}
