/// Decides what follows after a purchase could not be posted: another try, or an error that says whether the relay
/// may have it. Waits for nothing and sends nothing.
struct Posting: Sendable {
    enum Action: Sendable, Equatable {
        /// Wait so long, then send the same again.
        case pause(Duration)
        case fail(RelayError)
    }

    static let tries = 10
    static let allowance = Duration.seconds(60)

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
        // What one try has left open no later one settles: each may fail for another reason.
        mayHaveBeenTaken = mayHaveBeenTaken || error.leavesOpenWhetherTaken
        let pause = max(backoff.next(), error.retryAfter ?? .zero)
        guard error.isRetryable, left > 0, now + pause <= end else {
            var last = error
            last.mayHaveBeenTaken = mayHaveBeenTaken
            return .fail(last)
        }
        return .pause(pause)
    }
}
