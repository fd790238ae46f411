/// What is counted for charts. The numbers are stored.
public enum ActivityKind: Int16, Sendable, CaseIterable {
    case accepted = 0
    case granted = 1
    case rejected = 2
    case timedOut = 3
    /// Calls to Cleeng that were answered as they should be.
    case upstreamAnswered = 4
    /// Calls to Cleeng that came to nothing.
    case upstreamFailed = 5
    case webhooksDelivered = 6
    case webhooksFailed = 7
    case notifications = 8
}
