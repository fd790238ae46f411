/// What an attempt to deliver comes to.
enum AttemptOutcome: Sendable {
    case delivered
    /// Is tried again.
    case failed
    /// Is not tried again.
    case refused
}

/// How a store delivers its messages.
struct DeliveryRules: Sendable {
    static let mostAtOnce = 64
    /// Most copies on their way. More are lost, so that the simulator does not grow without end.
    static let capacity = 100_000

    let mostTries: Int
    let longestPauseMilliseconds: Int
    /// How long an answer may take.
    let timeoutSeconds: Int64
    /// Message id of the entry of this number.
    let makeID: @Sendable (Int) -> String
    /// - Parameter status: nil where nothing answered.
    let outcome: @Sendable (_ status: Int?) -> AttemptOutcome

    func pause(after tries: Int) -> Duration {
        .milliseconds(min(longestPauseMilliseconds, 100 << min(tries - 1, 10)))
    }
}
