import RelayCore

/// How pursuits are paced.
public struct PursuitSettings: Sendable {
    public var reads: ReadSchedule
    public var retries: RetrySchedule
    /// How long a claim holds without being renewed: a copy that dies is stood in for after this.
    public var lease: Duration
    /// How many pursuits one process works on at once: so many that are to be sent, and as many that are to be read.
    public var maxConcurrent: Int
    /// How often a process looks for work that nobody woke it for.
    public var idleTick: Duration
    /// How often deadlines are looked for among what waits for an upstream that is away.
    public var expiryTick: Duration
    /// The read before the first forward may take this long, and not longer: the forward matters more.
    public var baselineTimeout: Duration
    /// How long steps under way may take to end once the process shuts down.
    public var shutdownGrace: Duration

    public init(
        reads: ReadSchedule, retries: RetrySchedule = RetrySchedule(), lease: Duration = .seconds(6),
        maxConcurrent: Int = 256, idleTick: Duration = .milliseconds(200), expiryTick: Duration = .seconds(1),
        baselineTimeout: Duration = .seconds(3), shutdownGrace: Duration = .seconds(4)
    ) {
        self.reads = reads
        self.retries = retries
        self.lease = lease
        self.maxConcurrent = maxConcurrent
        self.idleTick = idleTick
        self.expiryTick = expiryTick
        self.baselineTimeout = baselineTimeout
        self.shutdownGrace = shutdownGrace
    }
}
