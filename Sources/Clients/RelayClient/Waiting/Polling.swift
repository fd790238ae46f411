import Foundation

/// Decides the next step of a wait for a final state: an event in, an action out. Does not wait or send by itself.
struct Polling: Sendable {
    enum Event: Sendable {
        /// The wait begins, a pause has ended, or the caller has received the last value.
        case ready
        case answered(RelayClient.Validation, retryAfter: Duration?)
        case failed(RelayError)
    }

    enum Action: Sendable, Equatable {
        /// Poll, and let the relay hold it for this many seconds; 0: not at all.
        case ask(hold: Int)
        case pause(Duration)
        case tell(RelayClient.Validation)
        case end
        case fail(RelayError)
    }

    static let hold = 25
    /// Interval of polls that are not held, if the relay states none.
    static let rhythm = Duration.seconds(5)
    /// Time limit until the relay's deadline is known.
    static let allowance = Duration.seconds(60)
    static let margin = Duration.seconds(30)
    private static let longestOversight = Duration.seconds(5)
    private static let waking = Duration.seconds(10)

    private var last: RelayClient.Validation?
    private var isOver = false
    /// Held polls break if a proxy cuts idle connections, or answers in the relay's place. After two such failures,
    /// polls are no longer held.
    private var brokenHolds = 0
    /// Whether the device was asleep past the limit.
    private var hasOverslept = false
    private var backoff: Backoff
    /// The last failure since the last answer.
    private var lastFailure: RelayError?
    private var asked: (at: ContinuousClock.Instant, isHeld: Bool)
    private var nextAsk: ContinuousClock.Instant
    /// The first poll after this time is the last one. Uses the device's clock, because the relay's may differ.
    private var limit: ContinuousClock.Instant
    private var toTell: RelayClient.Validation?

    /// - Parameter known: the initial state, which is returned first.
    init(
        known: RelayClient.Validation?, at now: ContinuousClock.Instant,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        toTell = known
        backoff = Backoff(longest: Self.rhythm, random: random)
        asked = (now, false)
        nextAsk = now
        limit = now + Self.allowance(of: known) + Self.margin
    }

    mutating func next(_ event: Event, at now: ContinuousClock.Instant) -> Action {
        if !hasOverslept, asked.at < limit, now > limit + Self.longestOversight {
            // The network may need a moment after the device has woken.
            (hasOverslept, limit) = (true, now + Self.waking)
        }
        switch event {
        case .ready: break
        case .answered(let validation, let retryAfter): take(validation, retryAfter, now)
        case .failed(let error):
            guard error.isRetryable else { return fail(error) }
            lastFailure = error
            if asked.isHeld, error.cutsHold { brokenHolds += 1 }
            let pause = max(backoff.next(), error.retryAfter ?? .zero)
            // The last poll is sent when the time is up, even if the device was asleep.
            nextAsk = now < limit ? min(now + pause, limit) : now + backoff.longest / 10
        }
        return next(at: now)
    }

    private mutating func next(at now: ContinuousClock.Instant) -> Action {
        if let validation = toTell {
            toTell = nil
            last = validation
            isOver = validation.status.isFinal
            return .tell(validation)
        }
        if isOver { return .end }
        if asked.at >= limit { return fail(.noOutcome(last: lastFailure)) }
        if now < nextAsk { return .pause(nextAsk - now) }
        // The first poll is not held, so that it returns the current state at once.
        let hold = last == nil || brokenHolds > 1 || hasOverslept || now >= limit ? 0 : Self.hold
        asked = (now, hold > 0)
        return .ask(hold: hold)
    }

    private mutating func take(
        _ validation: RelayClient.Validation, _ retryAfter: Duration?, _ now: ContinuousClock.Instant
    ) {
        backoff.reset()
        lastFailure = nil
        if last == nil { limit = max(limit, now + Self.allowance(of: validation) + Self.margin) }
        if last.map({ !$0.tellsTheSame(as: validation) }) ?? true { toTell = validation }
        // A poll that was held for its whole interval is repeated at once; others wait for the relay's interval.
        nextAsk = min(asked.at + max(retryAfter ?? Self.rhythm, .seconds(1)), limit)
    }

    private mutating func fail(_ error: RelayError) -> Action {
        isOver = true
        return .fail(error)
    }

    /// The relay's own time limit.
    private static func allowance(of validation: RelayClient.Validation?) -> Duration {
        guard let validation else { return allowance }
        return .seconds(min(max(0, validation.deadline.timeIntervalSince(validation.receivedAt)), 86_400))
    }
}

extension RelayError {
    /// Whether a proxy may have ended a held poll because it took too long.
    fileprivate var cutsHold: Bool {
        code == .connectionLost || code == .notUnderstood && [502, 504].contains(httpStatus)
    }

    fileprivate static func noOutcome(last: RelayError?) -> RelayError {
        let why = last.map { "the last poll failed: \($0)" } ?? "it is pending still"
        return RelayError(.noOutcome, why, retryAfter: last?.retryAfter)
    }
}

/// Growing pauses: half a second, then twice as long each time, up to a limit. Each is shortened at random by up to a
/// quarter, so that apps that failed together do not retry together.
struct Backoff: Sendable {
    let longest: Duration
    /// Returns a random number in 0..<1.
    let random: @Sendable () -> Double
    private var failures = 0

    init(longest: Duration, random: @escaping @Sendable () -> Double) {
        self.longest = longest
        self.random = random
    }

    mutating func next() -> Duration {
        failures = min(failures + 1, 16)
        return min(longest, .milliseconds(250) * (1 << failures)) * (1 - random() / 4)
    }

    mutating func reset() { failures = 0 }
}

/// The clock; tests replace it.
struct Timekeeper: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant
    /// Throws `CancellationError`.
    var sleep: @Sendable (Duration) async throws -> Void

    static let system = Timekeeper(now: { .now }, sleep: { try await Task.sleep(for: $0) })
}
