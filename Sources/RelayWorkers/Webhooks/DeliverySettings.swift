public import RelayCore

/// How messages are delivered.
public struct DeliverySettings: Sendable {
    public var retries: WebhookRetries
    public var capacity: EndpointCapacity
    /// Interval of looks without a signal.
    public var idleTick: Duration
    /// The same while an endpoint's breaker is open, and probes have to be sent.
    public var probeTick: Duration
    /// Interval between two claims: places that become free meanwhile are filled by one claim.
    public var claimGap: Duration
    /// After the claim. What is begun by then ends within the lease.
    public var startAtMost: Duration
    /// How long a message waits that this process had no place for.
    public var postponedFor = Duration.seconds(5)
    /// How long tries under way are waited for in a shutdown.
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

    /// Lease of a claim: a try's own time, the longest delay before it begins, and as much again for a stopped clock.
    func lease(timeout: Duration) -> Duration { timeout + startAtMost + startAtMost }

    /// Breaker settings of each endpoint in each process. It never stops for long: tries keep to their schedule but for
    /// short waits, and an endpoint that hangs takes four places instead of all.
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
