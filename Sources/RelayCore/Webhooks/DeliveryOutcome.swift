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
