/// Failure counters of a claimed row. They decide whether it is processed in a batch, alone, or not at all.
///
/// Counts only failures that the row itself may have caused. An endpoint's answer, an upstream outage or a database
/// outage has a retry schedule of its own and parks nothing.
public struct ClaimRecord: Sendable, Equatable {
    /// Earlier claims in a row that were never released. Each may have ended a process.
    public var strikes: Int
    /// Earlier attempts in a row that failed because of the row's content.
    public var failures: Int

    public static let failuresToPark = 5

    /// Pauses after each failure except the last.
    private static let pauses: [Duration] = [.seconds(1), .seconds(10), .seconds(60), .seconds(300)]

    public init(strikes: Int = 0, failures: Int = 0) {
        self.strikes = strikes
        self.failures = failures
    }

    /// Whether too many claims in a row were never released. Such a row is no longer processed.
    public var isDeadly: Bool { StrikeLimits.items.isDeadly(strikes) }

    /// Whether work on it may crash a process. A process works on only one such row at a time.
    public var isSuspect: Bool { StrikeLimits.items.isSuspect(strikes) }

    /// Pause before the next try if this one fails too. Nil: the row is then parked.
    public var pauseAfterFailure: Duration? {
        let count = failures + 1
        return count < Self.failuresToPark ? Self.pauses[min(max(count, 1), Self.pauses.count) - 1] : nil
    }
}
