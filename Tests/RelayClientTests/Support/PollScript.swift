@testable import RelayClient

/// A wait on a clock that stands still between two lines of a test.
struct PollScript {
    private(set) var now = ContinuousClock.now
    private let start: ContinuousClock.Instant
    private var polling: Polling

    init(known: RelayClient.Validation? = nil) {
        start = now
        polling = Polling(known: known, at: now, random: { 0 })
    }

    /// Time since the start of the wait.
    var elapsed: Duration { now - start }

    mutating func ready(after pause: Duration = .zero) -> Polling.Action { play(.ready, pause) }

    mutating func answers(
        _ validation: RelayClient.Validation, after pause: Duration = .zero, retryAfter: Duration? = .seconds(5)
    ) -> Polling.Action {
        play(.answered(validation, retryAfter: retryAfter), pause)
    }

    mutating func fails(_ error: RelayError, after pause: Duration = .zero) -> Polling.Action {
        play(.failed(error), pause)
    }

    private mutating func play(_ event: Polling.Event, _ pause: Duration) -> Polling.Action {
        now += pause
        return polling.next(event, at: now)
    }
}
