public import RelayCore

/// Timing and limits of pursuits.
public struct PursuitSettings: Sendable {
    /// Tests of crashes choose their pauses by it.
    public static let standardLease = Duration.seconds(6)

    public var reads: ReadSchedule
    public var retries: RetrySchedule
    /// How long a claim is valid without renewal. After that, another copy may claim a dead copy's pursuits.
    public var lease: Duration
    /// Bound of pursuits that one process works on, per route.
    public var maxConcurrent: Int
    /// How often a process looks for work without a wakeup.
    public var idleTick: Duration
    /// How often the pursuits of shut routes are checked for passed deadlines.
    public var expiryTick: Duration
    /// Longest time of the read before the first forward. It is short, since the forward matters more.
    public var baselineTimeout: Duration
    /// Whether purchases of the App Store may be sent by StoreKit 2 only.
    public var forcesStoreKit2: Bool
    /// Time for running steps to end after the process begins to shut down.
    public var shutdownGrace: Duration

    public init(
        reads: ReadSchedule, retries: RetrySchedule = RetrySchedule(), lease: Duration = standardLease,
        maxConcurrent: Int = 256, idleTick: Duration = .milliseconds(200), expiryTick: Duration = .seconds(1),
        baselineTimeout: Duration = .seconds(3), forcesStoreKit2: Bool = false, shutdownGrace: Duration = .seconds(4)
    ) {
        self.reads = reads
        self.retries = retries
        self.lease = lease
        self.maxConcurrent = maxConcurrent
        self.idleTick = idleTick
        self.expiryTick = expiryTick
        self.baselineTimeout = baselineTimeout
        self.forcesStoreKit2 = forcesStoreKit2
        self.shutdownGrace = shutdownGrace
    }
}
