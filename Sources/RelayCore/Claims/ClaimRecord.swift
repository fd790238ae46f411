/// What the counters of a claimed row say: whether it is processed with others, alone, or not at all.
///
/// Only what the row itself may be to blame for is counted. An endpoint's answer, or an upstream or a database that is away, has a
/// schedule of its own and parks nothing.
public struct ClaimRecord: Sendable, Equatable {
    /// Claims before this one, in a row, that nobody gave back: each may have ended a process.
    public var strikes: Int
    /// Times before this one, in a row, that it could not be processed for what is in it.
    public var failures: Int

    public static let failuresToPark = 5

    /// After each failure but the last.
    private static let pauses: [Duration] = [.seconds(1), .seconds(10), .seconds(60), .seconds(300)]

    public init(strikes: Int = 0, failures: Int = 0) {
        self.strikes = strikes
        self.failures = failures
    }

    /// Its workers ended too often: it is not processed any more.
    public var isDeadly: Bool { StrikeLimits.items.isDeadly(strikes) }

    /// It is processed alone.
    public var isSuspect: Bool { StrikeLimits.items.isSuspect(strikes) }

    /// Before the next try, should this one fail too; nil: it is parked then.
    public var pauseAfterFailure: Duration? {
        let count = failures + 1
        return count < Self.failuresToPark ? Self.pauses[min(max(count, 1), Self.pauses.count) - 1] : nil
    }
}
