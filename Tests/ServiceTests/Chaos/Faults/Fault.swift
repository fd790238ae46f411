/// What goes wrong while purchases come in. A row of the grid has one or several of them.
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

    /// How long it lasts, where it has a length: in `scripts/test`, and in `scripts/chaos`.
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
        // Until somebody promotes the standby.
        case .primaryKilled, .primaryFrozen: (3, 10)
        }
    }

    var isKill: Bool { [.workerKilled, .allKilled, .killedOverAndOver].contains(self) }

    /// The database that it needs.
    enum Ground: Int { case shared, own, ownDisk, pair }

    var ground: Ground {
        switch self {
        // They take the whole cluster down.
        case .databaseRestarted, .databaseStopped, .connectionsTaken: .own
        case .diskFull, .diskSlow: .ownDisk
        case .primaryKilled, .primaryFrozen: .pair
        default: .shared
        }
    }

    /// Copies reach the database by lines that it disturbs.
    var isOfNetwork: Bool {
        [.answersLost, .networkCut, .networkSilent, .networkDeaf, .networkSlow].contains(self)
    }

    /// What has to be compiled for it.
    var needsCompiler: Bool { clockError != nil || ground == .ownDisk }

    /// How long the service may take to notice that its database is gone: a machine that hangs, with its kernel alive, is given up when
    /// a statement is too late.
    var noticedAfter: Duration { self == .primaryFrozen ? .seconds(20) : .zero }

    /// The copies of the service. Those that are killed have their work divided between processes.
    var roles: [String] { isKill ? ["front", "worker", "front", "worker"] : ["all", "all"] }

    /// For one call, in seconds. Where calls hang it is longer than a lease: only a lease that is kept, and a call that is broken
    /// off when it is lost, keep others from sending the same meanwhile.
    var upstreamTimeout: Int {
        switch self {
        case .databaseStopped: 12
        case .upstreamHangs: 9
        default: 2
        }
    }

    /// Part of the emails of those who buy before it strikes: the upstream's behaviour towards them.
    var tagBefore: String { self == .databaseStopped ? "+hang-1" : "" }

    /// By how much the clock of the second copy is wrong.
    var clockError: Duration? {
        switch self {
        case .clockAhead: .seconds(3_600)
        case .clockBehind: .seconds(-3_600)
        default: nil
        }
    }

    /// Nothing that it does makes anybody pause before the next try.
    var leavesNothingToWaitFor: Bool { isKill || [.snapshotHeld, .clockAhead, .clockBehind].contains(self) }
}
