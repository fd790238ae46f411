/// How often something may be done: so many at once, given back one by one at a steady rate.
public struct RateLimit: Sendable, Equatable {
    /// How many at once.
    public let burst: Int
    /// Until one more is given back.
    public let interval: Duration

    /// - Parameters:
    ///   - rate: a second, above 0.
    ///   - burst: at least 1.
    public init(rate: Double, burst: Int) {
        self.burst = max(burst, 1)
        interval = max(.seconds(rounded: 1 / max(rate, 0.000_1)), .microseconds(1))
    }

    /// In how many whole seconds all that may be done at once is given back.
    public var windowSeconds: Int { max(1, Int((interval.seconds * Double(burst)).rounded(.up))) }
}

/// One who is limited: the generic cell rate algorithm, which keeps a single moment and no list.
public struct RateState: Sendable, Equatable {
    /// When all would be given back, on the caller's clock.
    public private(set) var fullAt: Duration

    public init() { fullAt = .zero }

    public struct Decision: Sendable, Equatable {
        public var isAllowed: Bool
        /// How many more could be done at once now.
        public var remaining: Int
        /// Until all are given back.
        public var reset: Duration
        /// Until one is; zero where this one was allowed.
        public var retryAfter: Duration
    }

    /// - Parameter now: never goes back.
    public mutating func take(_ limit: RateLimit, at now: Duration) -> Decision {
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

    /// Whether nothing would change if this one was forgotten.
    public func isFull(at now: Duration) -> Bool { fullAt <= now }
}
