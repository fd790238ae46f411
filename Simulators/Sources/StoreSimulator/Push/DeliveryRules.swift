/// Outcome of a delivery attempt.
enum AttemptOutcome: Sendable {
    case delivered
    /// Will be retried.
    case failed
    /// Will not be retried.
    case refused
}

/// How a store delivers its messages.
struct DeliveryRules: Sendable {
    static let mostAtOnce = 64
    /// Limit of copies in flight. Further ones are lost, so that the simulator's memory is bounded.
    static let capacity = 100_000

    let mostTries: Int
    let longestPauseMilliseconds: Int
    /// Time limit for an answer.
    let timeoutSeconds: Int64
    /// Makes the message id for an entry's number.
    let makeID: @Sendable (Int) -> String
    /// - Parameter status: nil without an answer.
    let outcome: @Sendable (_ status: Int?) -> AttemptOutcome

    func pause(after tries: Int) -> Duration {
        .milliseconds(min(longestPauseMilliseconds, 100 << min(tries - 1, 10)))
    }
}
