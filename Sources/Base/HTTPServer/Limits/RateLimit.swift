import Formats

/// A rate limit: a burst, refilled one by one at a steady rate.
public struct RateLimit: Sendable, Equatable {
    /// Number of requests that may come at once.
    public let burst: Int
    /// Time until one more request is allowed.
    public let interval: Duration

    /// - Parameters:
    ///   - rate: requests per second, above 0.
    ///   - burst: at least 1.
    public init(rate: Double, burst: Int) {
        self.burst = max(burst, 1)
        interval = max(.seconds(rounded: 1 / max(rate, 0.000_1)), .microseconds(1))
    }

    /// Time in which a spent burst is refilled, in whole seconds.
    public var windowSeconds: Int { max(1, Int((interval.seconds * Double(burst)).rounded(.up))) }
}

/// State of one limited client. Uses the generic cell rate algorithm, which stores a single time and no list.
struct RateState: Sendable, Equatable {
    /// When the whole burst is available again, on the caller's clock.
    private(set) var fullAt: Duration

    init() { fullAt = .zero }

    struct Decision: Sendable, Equatable {
        var isAllowed: Bool
        /// Number of further requests allowed at once now.
        var remaining: Int
        /// Time until the whole burst is available.
        var reset: Duration
        /// Time until one request is allowed; zero if this one was.
        var retryAfter: Duration
    }

    /// - Parameter now: must never decrease.
    mutating func take(_ limit: RateLimit, at now: Duration) -> Decision {
        let debt = max(fullAt - now, .zero)
        let after = debt + limit.interval
        let most = limit.interval * limit.burst
        guard after <= most else {
            return Decision(isAllowed: false, remaining: 0, reset: debt, retryAfter: after - most)
        }
        fullAt = now + after
        return Decision(
            isAllowed: true, remaining: Int((most - after) / limit.interval), reset: after, retryAfter: .zero)
    }

    /// Whether forgetting this client would change nothing.
    func isFull(at now: Duration) -> Bool { fullAt <= now }
}
