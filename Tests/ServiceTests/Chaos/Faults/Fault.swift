/// A fault that happens while purchases arrive. A row of the grid has one or several.
enum Fault: String, CaseIterable, Sendable {
    case workerKilled = "worker-killed"
    case allKilled = "all-killed"
    case killedOverAndOver = "killed-over-and-over"
    case databaseRestarted = "database-restarted"
    case databaseStopped = "database-stopped"
    case connectionsCut = "connections-cut"
    case snapshotHeld = "snapshot-held"
    case upstreamHangs = "upstream-hangs"
    case upstreamResets = "upstream-resets"
    case upstreamFails = "upstream-fails"
    case upstreamSlow = "upstream-slow"
    case clockAhead = "clock-ahead"
    case clockBehind = "clock-behind"
    case copyFrozen = "copy-frozen"
    case answersLost = "answers-lost"
    case networkCut = "network-cut"
    case networkSilent = "network-silent"
    case networkDeaf = "network-deaf"
    case networkSlow = "network-slow"
    case connectionsTaken = "connections-taken"
    case diskFull = "disk-full"
    case diskSlow = "disk-slow"
    case primaryKilled = "primary-killed"
    case primaryFrozen = "primary-frozen"

    /// Length of the fault in seconds: in `scripts/test`, and in `scripts/chaos`. 0 if it has none.
    var seconds: (short: Int, full: Int) {
        switch self {
        case .workerKilled, .allKilled, .databaseRestarted: (0, 0)
        case .killedOverAndOver: (8, 60)
        // Longer than a lease.
        case .databaseStopped: (8, 30)
        case .upstreamHangs: (8, 20)
        case .connectionsCut, .upstreamResets, .upstreamFails, .upstreamSlow: (4, 20)
        case .snapshotHeld: (4, 60)
        case .clockAhead, .clockBehind: (3, 20)
        // Longer than a lease.
        case .copyFrozen, .networkSilent, .networkDeaf, .networkCut: (8, 20)
        case .answersLost, .networkSlow, .connectionsTaken, .diskFull, .diskSlow: (4, 20)
        // Time until the standby is promoted.
        case .primaryKilled, .primaryFrozen: (3, 10)
        }
    }

    var isKill: Bool { [.workerKilled, .allKilled, .killedOverAndOver].contains(self) }

    /// The database that the fault needs.
    enum Ground: Int { case shared, own, ownDisk, pair }

    var ground: Ground {
        switch self {
        // These stop the whole cluster.
        case .databaseRestarted, .databaseStopped, .connectionsTaken: .own
        case .diskFull, .diskSlow: .ownDisk
        case .primaryKilled, .primaryFrozen: .pair
        default: .shared
        }
    }

    /// Whether copies reach the database through lines that the fault disturbs.
    var isOfNetwork: Bool {
        [.answersLost, .networkCut, .networkSilent, .networkDeaf, .networkSlow].contains(self)
    }

    /// Whether a library must be compiled for it.
    var needsCompiler: Bool { clockError != nil || ground == .ownDisk }

    /// How long the service may take to notice that its database is gone. It gives up a machine that hangs, but whose
    /// kernel runs, when a statement times out.
    var noticedAfter: Duration { self == .primaryFrozen ? .seconds(20) : .zero }

    /// Roles of the service's copies. Kills divide the work between fronts and workers.
    var roles: [String] { isKill ? ["front", "worker", "front", "worker"] : ["all", "all"] }

    /// Timeout of one upstream call in seconds. If calls hang, it is longer than a lease. Then only a renewed lease,
    /// and a call that ends when its lease is lost, keep other copies from sending the same purchase.
    var upstreamTimeout: Int {
        switch self {
        case .databaseStopped: 12
        case .upstreamHangs: 9
        default: 2
        }
    }

    /// Part of the emails of purchases before the fault. It sets the upstream's behaviour.
    var tagBefore: String { self == .databaseStopped ? "+hang-1" : "" }

    /// Error of the second copy's clock.
    var clockError: Duration? {
        switch self {
        case .clockAhead: .seconds(3_600)
        case .clockBehind: .seconds(-3_600)
        default: nil
        }
    }

    /// Whether the fault makes no copy pause before its next try.
    var leavesNothingToWaitFor: Bool { isKill || [.snapshotHeld, .clockAhead, .clockBehind].contains(self) }
}
