/// How long an app is to wait before it polls again, as `Retry-After` and `pollAfterSeconds` say it: whole seconds, rounded
/// up, at least one.
struct PollInterval: Sendable {
    let seconds: Int
    let text: String

    init(_ interval: Duration) {
        let (whole, rest) = interval.components
        seconds = Swift.max(1, Int(clamping: whole) + (rest > 0 ? 1 : 0))
        text = String(seconds)
    }
}
