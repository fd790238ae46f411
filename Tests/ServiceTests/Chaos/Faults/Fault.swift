/// What goes wrong while purchases come in: the rows of the grid.
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
        }
    }

    var isKill: Bool { [.workerKilled, .allKilled, .killedOverAndOver].contains(self) }

    /// It takes the whole cluster down, and so needs one of its own.
    var crashesCluster: Bool { [.databaseRestarted, .databaseStopped].contains(self) }

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

    /// From its end until everything that was accepted before is granted. The promise is ten seconds after a kill. What a
    /// pause between two tries or a call without an answer may add depends on how long the trouble went on; where nothing has
    /// to recover, nothing is added.
    func recoveryLimit(after length: Duration) -> Duration {
        switch self {
        case .workerKilled, .allKilled, .killedOverAndOver, .snapshotHeld, .clockAhead, .clockBehind: .seconds(10)
        default: .seconds(10 + upstreamTimeout) + length
        }
    }
}
