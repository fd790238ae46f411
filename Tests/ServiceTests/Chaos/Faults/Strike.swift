import Foundation

/// The faults of one row of the grid: one, or several at the same time.
struct Strike: Sendable, Hashable {
    let faults: [Fault]

    init(_ faults: Fault...) { self.faults = faults }

    /// - Parameter name: a name as in ``name``; the result is `nil` for any other.
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

    /// Limit of the time from the end of the strike until everything accepted before is granted. The promise is ten
    /// seconds after a kill. A pause between two tries, or a call without an answer, may add time that depends on the
    /// fault's length. Faults that leave nothing to wait for add none.
    func recoveryLimit(after length: Duration) -> Duration {
        faults.allSatisfy(\.leavesNothingToWaitFor)
            ? .seconds(10) : .seconds(10 + upstreamTimeout) + length + noticedAfter
    }

    /// Applies all faults at once, each for its length.
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
