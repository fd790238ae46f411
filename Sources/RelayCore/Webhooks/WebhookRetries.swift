/// When a message that an endpoint did not take is sent again.
///
/// One pause after each try that failed, and no try after the last pause's: N pauses are 1 + N tries. Each is up to a fifth
/// shorter or longer at random, so that what failed together does not come back together.
public struct WebhookRetries: Sendable, Equatable {
    public static let standard = [5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400].map(Duration.seconds)

    /// A `Retry-After` is heeded up to this: an endpoint that asks for more is asked again all the same.
    public static let longestWish = Duration.seconds(3_600)
    private static let spread = 0.2

    public let pauses: [Duration]

    public init(pauses: [Duration] = standard) {
        self.pauses = pauses
    }

    /// Nil where it was the last try.
    ///
    /// - Parameters:
    ///   - failures: how many tries have failed by now, 1 or more.
    ///   - retryAfter: what the endpoint asked for.
    ///   - jitter: 0 up to 1, random.
    public func pause(failures: Int, retryAfter: Duration? = nil, jitter: Double) -> Duration? {
        let index = max(failures, 1) - 1
        guard index < pauses.count else { return nil }
        let pause = pauses[index] * (1 - Self.spread + 2 * Self.spread * min(max(jitter, 0), 1))
        return max(pause, min(retryAfter ?? .zero, Self.longestWish))
    }
}

/// What is written of a try.
public enum DeliveryOutcome: Sendable, Equatable {
    case delivered
    case again(after: Duration)
    /// It is not tried again.
    case failed

    /// Nil where the try says nothing, and the message goes back as it was.
    ///
    /// - Parameters:
    ///   - tries: this one included.
    ///   - jitter: 0 up to 1, random.
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
