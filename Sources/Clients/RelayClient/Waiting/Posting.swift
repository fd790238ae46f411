/// Decides what follows a failed post: another try, or an error that says whether the relay may have the purchase. Does
/// not wait or send by itself.
struct Posting: Sendable {
    enum Action: Sendable, Equatable {
        /// Wait this long, then send the same request again.
        case pause(Duration)
        case fail(RelayError)
    }

    static let tries = 10
    static let allowance = Duration.seconds(60)
    /// Number of tries that are made even after the time limit, since the device may have been asleep for minutes.
    private static let sure = 3

    private let end: ContinuousClock.Instant
    private var backoff: Backoff
    private var left = Self.tries
    private var mayHaveBeenTaken = false

    init(
        at now: ContinuousClock.Instant, random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        end = now + Self.allowance
        backoff = Backoff(longest: .seconds(10), random: random)
    }

    mutating func failed(_ error: RelayError, at now: ContinuousClock.Instant) -> Action {
        left -= 1
        // If one try leaves this open, a later one cannot settle it: it may fail for another reason.
        mayHaveBeenTaken = mayHaveBeenTaken || error.leavesOpenWhetherTaken
        let pause = max(backoff.next(), error.retryAfter ?? .zero)
        let isSure = Self.tries - left < Self.sure && pause <= backoff.longest
        guard error.isRetryable, left > 0, isSure || now + pause <= end else {
            var last = error
            last.mayHaveBeenTaken = mayHaveBeenTaken
            return .fail(last)
        }
        return .pause(pause)
    }
}
