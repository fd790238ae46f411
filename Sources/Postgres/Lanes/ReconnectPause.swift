/// How long to wait before the next try to connect: twice as long after each failure, and never quite the same, so that
/// many clients do not come back in step.
struct ReconnectPause {
    private let settings: PostgresConfiguration.Backoff
    private var failures = 0

    init(_ settings: PostgresConfiguration.Backoff) { self.settings = settings }

    /// - Parameter jitter: a number from 0 to 1; the pause is between half of the full one and all of it.
    mutating func next(jitter: Double = .random(in: 0...1)) -> Duration {
        let full = min(settings.max, settings.initial * (1 << min(failures, 16)))
        failures += 1
        return full * (0.5 + jitter / 2)
    }

    mutating func reset() { failures = 0 }
}
