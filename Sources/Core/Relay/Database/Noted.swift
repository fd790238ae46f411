import NIOConcurrencyHelpers

/// Times of the last writes that need not happen each time.
final class Noted: Sendable {
    private static let pause = Duration.seconds(10)
    private static let most = 1_024

    private let times = NIOLockedValueBox<[String: ContinuousClock.Instant]>([:])

    /// Whether the last write is at least ten seconds old. If so, a new write is recorded.
    func isTime(for name: String) -> Bool {
        let now = ContinuousClock.now
        return times.withLockedValue { times in
            if let last = times[name], now - last < Self.pause { return false }
            if times.count >= Self.most { times = [:] }
            times[name] = now
            return true
        }
    }
}
