/// What one call to the upstream came to, as far as the route is concerned.
public struct CallResult: Sendable, Equatable {
    public var outcome: UpstreamHealth.Outcome
    /// Whose call it was: failures of one customer alone say nothing of the others' calls.
    public var subject: Int
    /// How long the upstream asked to be left alone.
    public var retryAfter: Duration?

    public init(_ outcome: UpstreamHealth.Outcome, subject: Int, retryAfter: Duration? = nil) {
        self.outcome = outcome
        self.subject = subject
        self.retryAfter = retryAfter
    }
}
