public import RelayCore

/// Settings of message delivery.
public struct DeliverySettings: Sendable {
    public var retries: WebhookRetries
    public var capacity: EndpointCapacity
    /// Interval between claims without a signal.
    public var idleTick: Duration
    /// The same while an endpoint's breaker is open, because probes must be sent.
    public var probeTick: Duration
    /// Interval between two claims: one claim fills all places that become free meanwhile.
    public var claimGap: Duration
    /// Longest time between claim and start. A try that starts by then ends within the lease.
    public var startAtMost: Duration
    /// Delay of a message for which this process had no place.
    public var postponedFor = Duration.seconds(5)
    /// How long shutdown waits for running tries.
    public var grace: Duration

    public init(
        retries: WebhookRetries = WebhookRetries(), capacity: EndpointCapacity = EndpointCapacity(),
        idleTick: Duration = .milliseconds(250), probeTick: Duration = .milliseconds(50),
        claimGap: Duration = .milliseconds(5), startAtMost: Duration = .seconds(5), grace: Duration = .seconds(4)
    ) {
        self.retries = retries
        self.capacity = capacity
        self.idleTick = idleTick
        self.probeTick = probeTick
        self.claimGap = claimGap
        self.startAtMost = startAtMost
        self.grace = grace
    }

    /// Lease of a claim: the try's timeout, the longest delay before its start, and the same again for a suspended
    /// process.
    func lease(timeout: Duration) -> Duration { timeout + startAtMost + startAtMost }

    /// Breaker settings of each endpoint in each process. It opens only briefly, so tries keep nearly to their
    /// schedule. An endpoint that hangs takes four places instead of all.
    static var breaker: CircuitBreaker.Settings {
        var settings = CircuitBreaker.Settings()
        settings.failures = 5
        settings.firstWait = .milliseconds(20)
        settings.longestWait = .milliseconds(100)
        settings.longestHold = .seconds(60)
        settings.probes = 4
        return settings
    }
}
