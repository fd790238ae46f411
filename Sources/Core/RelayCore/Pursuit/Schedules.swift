/// Schedule of a purchase's entitlement reads.
public struct ReadSchedule: Sendable, Equatable {
    public var interval: Duration
    public var reconcileFor: Duration
    public static let longestGap: Duration = .seconds(3600)

    /// - Parameters:
    ///   - interval: time between two reads while the app waits.
    ///   - reconcileFor: how long after its deadline (or a late forward) a purchase is watched for a late grant.
    public init(interval: Duration, reconcileFor: Duration) {
        self.interval = interval
        self.reconcileFor = reconcileFor
    }

    /// Whether the read behind a grant came late enough to trust, and whether it is the last one that the app waits for.
    ///
    /// - Parameters:
    ///   - grant: if it is late, no app waits for it: after the deadline, or after a newer request overtook the purchase.
    ///   - watchedSince: see ``Pursuit/watchedSince``.
    ///   - now: the question about the owner may have taken the time of the next read.
    public func progress(of grant: Decision.Change, watchedSince: Timestamp?, deadline: Timestamp, at now: Timestamp)
        -> OwnershipClaim.ReadProgress
    {
        guard !grant.late, let read = grant.observedAt, read < deadline, let watchedSince else { return .init() }
        return .init(
            hasWaited: read >= watchedSince + interval * 2,
            isLastRead: read + interval >= deadline || now >= lastCall(before: deadline))
    }

    /// When a grant is read again, after Cleeng did not answer about the subscription's owner in time. Nil: no later read
    /// decides it, neither for the app that waits nor in the watch.
    public func nextRead(
        afterDoubtIn grant: Decision.Change, watchedSince: Timestamp?, deadline: Timestamp
    ) -> Timestamp? {
        guard grant.late else { return nil }
        return next(after: grant.observedAt ?? grant.at, denseUntil: max(deadline, watchedSince ?? deadline))
    }

    /// Time until which Cleeng can be asked once more for an app that waits. The answer to a later call would come after
    /// the deadline.
    public func lastCall(before deadline: Timestamp) -> Timestamp { deadline - interval / 5 }

    /// Time until which an answer can still be written before the deadline.
    public func lastAnswer(before deadline: Timestamp) -> Timestamp { deadline - interval / 20 }

    /// Time of the next read; nil when the watch is over. Before the deadline it is every interval, and once just after
    /// it. Later the gaps double from one interval up to an hour; the last gap is cut at the end of the watch.
    ///
    /// - Parameters:
    ///   - last: when the last read was sent.
    ///   - denseUntil: the deadline, or ``Pursuit/watchedSince`` if that is later. Until then a read comes every interval.
    public func next(after last: Timestamp, denseUntil: Timestamp) -> Timestamp? {
        guard last >= denseUntil else { return last + interval }
        let elapsed = last - denseUntil
        guard elapsed < reconcileFor else { return nil }
        // Gaps of 1, 2, 4, … intervals put the reads at 1, 3, 7, … intervals: each gap is the elapsed time plus one
        // interval.
        let gap = min(elapsed + interval, Self.longestGap)
        return min(last + gap, denseUntil + reconcileFor)
    }
}

/// Retry schedule of a failed forward: exponential from half a second, plus a random part of up to a half. The random
/// part spreads purchases that failed together. There is no last try: an accepted purchase is sent until Cleeng answers
/// or an operator abandons it.
public struct RetrySchedule: Sendable, Equatable {
    public var first: Duration
    public var longest: Duration

    public init(first: Duration = .milliseconds(500), longest: Duration = .seconds(60)) {
        self.first = first
        self.longest = longest
    }

    /// - Parameters:
    ///   - failures: failed forwards so far, at least 1.
    ///   - retryAfter: the upstream's minimum, always respected.
    ///   - jitter: random, 0 up to 1.
    public func delay(failures: Int, retryAfter: Duration?, jitter: Double) -> Duration {
        let doublings = min(max(failures, 1) - 1, 20)
        let base = min(first * (1 << doublings), longest * 2 / 3)
        let delay = base * (1 + 0.5 * min(max(jitter, 0), 1))
        return max(delay, retryAfter ?? .zero)
    }
}
