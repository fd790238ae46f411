import Foundation

/// The time from which recovery is measured.
struct Struck: Sendable {
    /// The last kill, or the end of the fault.
    var at: Date
    /// Time in which no copy could recover anything, since the new copies had to start.
    var startTook = Duration.zero
}

extension Fault {
    /// Applies the fault for its length.
    func strike(_ scene: ChaosScene, for length: Duration) async throws -> Struck {
        switch self {
        case .workerKilled:
            try await scene.isSending(2, copy: 1)
            return Struck(at: await scene.kill(1))
        case .allKilled:
            try await scene.isSending(3)
            let killed = await scene.killAll()
            try await scene.startAll()
            return Struck(at: killed, startTook: .seconds(Date().timeIntervalSince(killed)))
        case .killedOverAndOver:
            return try await killOverAndOver(scene, for: length)
        case .databaseRestarted:
            await scene.cluster.crash()
            try await scene.cluster.start()
        case .databaseStopped:
            try await scene.isHanging(3)
            await scene.cluster.stop()
            try await Task.sleep(for: length)
            try await scene.cluster.start()
        case .copyFrozen:
            for copy in 0..<scene.count {
                try await scene.isSending(2, copy: copy)
                try await scene.freeze(copy, for: length)
            }
        case .answersLost:
            try await scene.disturb(scene.lines, by: .losesAnswers(oneIn: 12), for: length)
            guard scene.lines.contains(where: { $0.lost > 0 }) else { throw HarnessError.failed("losing answers", []) }
        case .networkCut: try await scene.disturb([scene.lines[1]], by: .cut, for: length)
        case .networkSilent:
            try await scene.isSending(2, copy: 1)
            try await scene.disturb([scene.lines[1]], by: .silent, for: length)
        case .networkDeaf:
            try await scene.isSending(2, copy: 1)
            try await scene.disturb([scene.lines[1]], by: .deaf, for: length)
        case .networkSlow: try await scene.disturb(scene.lines, by: .slow(.milliseconds(60)), for: length)
        case .connectionsTaken: try await scene.takeConnections(for: length)
        case .diskFull:
            try await scene.cluster.disk("full", for: length)
            // The server may have panicked because its log did not fit on the disk.
            try await scene.cluster.startAgain()
        case .diskSlow: try await scene.cluster.disk("slow", for: length)
        case .primaryKilled: return try await scene.loseThePrimary(for: length) { try await $0.kill9() }
        case .primaryFrozen: return try await scene.loseThePrimary(for: length) { try $0.freeze() }
        case .connectionsCut:
            try await scene.cutConnections(for: length)
        case .upstreamHangs:
            try await scene.upstream(["hang"], for: length)
        case .upstreamResets:
            // Every second call is processed before its answer is lost.
            try await scene.upstream((0..<24).flatMap { _ in ["reset-1", "lost-answer-1"] } + ["reset"], for: length)
        case .upstreamFails:
            try await scene.upstream(["flaky"], for: length)
        case .upstreamSlow:
            try await scene.upstream(["slow-1500ms"], for: length)
        case .snapshotHeld, .clockAhead, .clockBehind:
            // These last from the first purchase to the last.
            try await Task.sleep(for: length)
        }
        return Struck(at: Date())
    }

    /// Kills one copy after the other, fronts and workers, every two seconds. Starts each again at once.
    private func killOverAndOver(_ scene: ChaosScene, for length: Duration) async throws -> Struck {
        let end = ContinuousClock.now + length
        var round = 0
        while true {
            let next = ContinuousClock.now + .seconds(2)
            // 3, 0, 1, 2, …: the first victim is a worker.
            let victim = (round + 3) % scene.count
            let killed = await scene.kill(victim)
            try await scene.restart(victim)
            round += 1
            guard next < end else {
                return Struck(at: killed, startTook: .seconds(Date().timeIntervalSince(killed)))
            }
            try await Task.sleep(until: next, clock: .continuous)
        }
    }
}
