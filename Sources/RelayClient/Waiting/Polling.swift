import Foundation

/// Decides the next step of a wait for a final state: what happened goes in, what to do next comes out. Waits for nothing
/// and sends nothing.
struct Polling: Sendable {
    enum Event: Sendable {
        /// The wait begins, a pause is over, or the caller has taken the last value.
        case ready
        case answered(RelayClient.Validation, retryAfter: Duration?)
        case failed(RelayError)
    }

    enum Action: Sendable, Equatable {
        /// Poll; let it be held for so many seconds, 0 for not at all.
        case ask(hold: Int)
        case pause(Duration)
        case tell(RelayClient.Validation)
        case end
        case fail(RelayError)
    }

    static let hold = 25
    /// Between two polls that nobody held, where the relay does not say.
    static let rhythm = Duration.seconds(5)
    /// How long the relay may take, until its deadline is known.
    static let allowance = Duration.seconds(60)
    static let margin = Duration.seconds(30)

    private var last: RelayClient.Validation?
    private var isOver = false
    /// A poll that is held breaks where something on the way cuts connections that keep still: after two the plain
    /// rhythm has to do.
    private var brokenHolds = 0
    private var backoff: Backoff
    /// Since the last answer.
    private var lastFailure: RelayError?
    private var asked: (at: ContinuousClock.Instant, isHeld: Bool)
    private var nextAsk: ContinuousClock.Instant
    /// A poll sent from here on is the last one. By this device's own clock: the relay's may show another time.
    private var limit: ContinuousClock.Instant
    private var toTell: RelayClient.Validation?

    /// - Parameter known: what the wait begins with, and returns first.
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
        switch event {
        case .ready: break
        case .answered(let validation, let retryAfter): take(validation, retryAfter, now)
        case .failed(let error):
            guard error.isRetryable else { return fail(error) }
            lastFailure = error
            if asked.isHeld, error.code == .connectionLost { brokenHolds += 1 }
            let pause = max(backoff.next(), error.retryAfter ?? .zero)
            // The last poll comes when the time is up, also where the device has slept meanwhile.
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
        // The first one is for knowing at once how things stand.
        let hold = last == nil || brokenHolds > 1 || now >= limit ? 0 : Self.hold
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
        // What was held for as long as the rhythm is asked again at once; what was not held keeps to the rhythm.
        nextAsk = min(asked.at + max(retryAfter ?? Self.rhythm, .seconds(1)), limit)
    }

    private mutating func fail(_ error: RelayError) -> Action {
        isOver = true
        return .fail(error)
    }

    /// How long the relay itself waits at most.
    private static func allowance(of validation: RelayClient.Validation?) -> Duration {
        guard let validation else { return allowance }
        return .seconds(min(max(0, validation.deadline.timeIntervalSince(validation.receivedAt)), 86_400))
    }
}

extension RelayError {
    fileprivate static func noOutcome(last: RelayError?) -> RelayError {
        let why = last.map { "the last poll failed: \($0)" } ?? "it is pending still"
        return RelayError(.noOutcome, why, retryAfter: last?.retryAfter)
    }
}

/// Longer and longer pauses: half a second, then twice as long each time, up to a bound; up to a quarter less by
/// chance, so that apps which failed together do not come back together.
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

/// The clock, for tests to replace.
struct Timekeeper: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant
    /// Throws `CancellationError`.
    var sleep: @Sendable (Duration) async throws -> Void

    static let system = Timekeeper(now: { .now }, sleep: { try await Task.sleep(for: $0) })
}
