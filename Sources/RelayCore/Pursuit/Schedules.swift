/// When the entitlement of a validation is read again.
public struct ReadSchedule: Sendable, Equatable {
    public var interval: Duration
    public var reconcileFor: Duration
    public static let longestGap: Duration = .seconds(3600)

    /// - Parameters:
    ///   - interval: between two reads while the app still waits.
    ///   - reconcileFor: how long after its deadline (or after a late forward) a validation is watched for a late grant.
    public init(interval: Duration, reconcileFor: Duration) {
        self.interval = interval
        self.reconcileFor = reconcileFor
    }

    /// How long a purchase has been read for by the time that a read was sent.
    ///
    /// - Parameter forwardedAt: when Cleeng took the purchase; nil where it has not.
    public func patience(at read: Timestamp, forwardedAt: Timestamp?, deadline: Timestamp) -> OwnershipClaim.Patience {
        guard read < deadline, let forwardedAt else { return .init() }
        return .init(hasWaited: read >= forwardedAt + interval * 2, isLastRead: read + interval >= deadline)
    }

    /// Nil when the watch is over. While the app waits: every interval, and once more just past the deadline. After it: at
    /// gaps that double from one interval up to an hour, the last one cut at the end of the watch.
    ///
    /// - Parameters:
    ///   - last: when the last read was sent.
    ///   - watchedSince: the deadline, or the moment Cleeng took the purchase if that came later.
    public func next(after last: Timestamp, watchedSince: Timestamp) -> Timestamp? {
        guard last >= watchedSince else { return last + interval }
        let elapsed = last - watchedSince
        guard elapsed < reconcileFor else { return nil }
        // Gaps of 1, 2, 4, … intervals put the reads at 1, 3, 7, … intervals: the next gap is what has passed, plus one.
        let gap = min(elapsed + interval, Self.longestGap)
        return min(last + gap, watchedSince + reconcileFor)
    }
}

/// When a forward that did not get through is tried again: exponential from half a second, and up to half as much again at
/// random, so that a thousand purchases that failed together do not come back together. There is no last try: a purchase
/// that was accepted is sent until Cleeng has answered or an operator has abandoned it.
public struct RetrySchedule: Sendable, Equatable {
    public var first: Duration
    public var longest: Duration

    public init(first: Duration = .milliseconds(500), longest: Duration = .seconds(60)) {
        self.first = first
        self.longest = longest
    }

    /// - Parameters:
    ///   - failures: how often it has failed by now, 1 or more.
    ///   - retryAfter: what the upstream asked for: never undercut.
    ///   - jitter: 0 up to 1, random.
    public func delay(failures: Int, retryAfter: Duration?, jitter: Double) -> Duration {
        let doublings = min(max(failures, 1) - 1, 20)
        let base = min(first * (1 << doublings), longest * 2 / 3)
        let delay = base * (1 + 0.5 * min(max(jitter, 0), 1))
        return max(delay, retryAfter ?? .zero)
    }
}
