import Foundation

/// What strikes in one row of the grid: a fault, or several at the same time.
struct Strike: Sendable, Hashable {
    let faults: [Fault]

    init(_ faults: Fault...) { self.faults = faults }

    /// - Parameter name: one as in ``name``; nil for any other.
    init?(named name: String) {
        let faults = name.split(separator: "+", omittingEmptySubsequences: false).map { Fault(rawValue: String($0)) }
        guard !faults.contains(nil) else { return nil }
        self.faults = faults.compactMap { $0 }
    }

    static let single = Fault.allCases.map { Strike($0) }
    static let pairs = [
        Strike(.killedOverAndOver, .answersLost), Strike(.killedOverAndOver, .networkSlow),
        Strike(.killedOverAndOver, .upstreamResets), Strike(.copyFrozen, .connectionsCut),
        Strike(.copyFrozen, .upstreamResets), Strike(.clockBehind, .copyFrozen), Strike(.clockAhead, .networkSilent),
        Strike(.networkDeaf, .upstreamHangs), Strike(.networkSilent, .answersLost),
        Strike(.answersLost, .upstreamResets), Strike(.diskSlow, .killedOverAndOver), Strike(.diskFull, .upstreamHangs),
        Strike(.primaryKilled, .upstreamResets),
    ]

    /// `killed-over-and-over+disk-slow`
    var name: String { faults.map(\.rawValue).joined(separator: "+") }

    var ground: Fault.Ground { faults.map(\.ground).max { $0.rawValue < $1.rawValue } ?? .shared }
    var isOfNetwork: Bool { faults.contains(where: \.isOfNetwork) }
    var needsCompiler: Bool { faults.contains(where: \.needsCompiler) }
    var roles: [String] { (faults.first(where: \.isKill) ?? faults[0]).roles }
    var upstreamTimeout: Int { faults.map(\.upstreamTimeout).max() ?? 2 }
    var tagBefore: String { faults.map(\.tagBefore).joined() }
    var clockError: Duration? { faults.lazy.compactMap(\.clockError).first }
    var noticedAfter: Duration { faults.map(\.noticedAfter).max() ?? .zero }

    /// From its end until everything that was accepted before is granted. The promise is ten seconds after a kill. What a
    /// pause between two tries or a call without an answer may add depends on how long the trouble went on; where nothing has
    /// to recover, nothing is added.
    func recoveryLimit(after length: Duration) -> Duration {
        faults.allSatisfy(\.leavesNothingToWaitFor)
            ? .seconds(10) : .seconds(10 + upstreamTimeout) + length + noticedAfter
    }

    /// All of it, each for as long as it lasts.
    func hit(_ scene: ChaosScene, for length: (Fault) -> Duration) async throws -> Struck {
        try await withThrowingTaskGroup(of: Struck.self) { group in
            for fault in faults {
                let length = length(fault)
                group.addTask { try await fault.strike(scene, for: length) }
            }
            return try await group.reduce(into: Struck(at: .distantPast)) { last, struck in
                last = Struck(at: max(last.at, struck.at), startTook: max(last.startTook, struck.startTook))
            }
        }
    }
}
