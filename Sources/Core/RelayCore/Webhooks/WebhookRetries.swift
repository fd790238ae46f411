/// Retry schedule of a message that an endpoint did not accept.
///
/// One pause follows each failed try, and the last pause precedes the last try: N pauses are 1 + N tries. A random part
/// of up to a fifth spreads messages that failed together.
public struct WebhookRetries: Sendable, Equatable {
    public static let standard = [5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400].map(Duration.seconds)

    /// Longest `Retry-After` that is respected.
    public static let longestWish = Duration.seconds(3_600)
    private static let spread = 0.2

    public let pauses: [Duration]

    public init(pauses: [Duration] = standard) {
        self.pauses = pauses
    }

    /// Nil after the last try.
    ///
    /// - Parameters:
    ///   - failures: failed tries so far, at least 1.
    ///   - retryAfter: pause that the endpoint requested.
    ///   - jitter: random, 0 up to 1.
    public func pause(failures: Int, retryAfter: Duration? = nil, jitter: Double) -> Duration? {
        let index = max(failures, 1) - 1
        guard index < pauses.count else { return nil }
        let pause = pauses[index] * (1 - Self.spread + 2 * Self.spread * min(max(jitter, 0), 1))
        return max(pause, min(retryAfter ?? .zero, Self.longestWish))
    }
}

/// Outcome of a try, as written.
public enum DeliveryOutcome: Sendable, Equatable {
    case delivered
    case again(after: Duration)
    /// Not tried again.
    case failed

    /// Nil if the try proves nothing: the message returns to its queue unchanged.
    ///
    /// - Parameters:
    ///   - tries: number of tries, including this one.
    ///   - jitter: random, 0 up to 1.
    public init?(_ result: WebhookResult, tries: Int, retries: WebhookRetries, jitter: Double) {
        switch result.verdict {
        case .delivered: self = .delivered
        case .gone: self = .failed
        case .cancelled, .postponed: return nil
        case .failed, .refused:
            let pause = retries.pause(failures: tries, retryAfter: result.retryAfter, jitter: jitter)
            self = pause.map { .again(after: $0) } ?? .failed
        }
    }
}
