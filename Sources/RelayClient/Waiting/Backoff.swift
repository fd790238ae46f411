/// Longer and longer pauses: half a second, then twice as long each time, up to a bound; up to a quarter less by
/// chance, so that apps which failed together do not come back together.
struct Backoff: Sendable {
    let longest: Duration
    /// From 0 up to 1.
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
