import Foundation
import TestSupport

/// Kills copies and starts them again, and cuts connections to the database, one after the other.
enum CopyChaos {
    /// Kills and restarts one copy in each round, never the same one twice in sequence. Every second round also cuts
    /// connections. At the end all copies but the first are killed at once, so that newly started copies must complete
    /// the last steps.
    ///
    /// - Parameter beforeLast: called shortly before the last kills.
    static func strike(
        _ scene: ChaosScene, rounds: Int, seed: ChaosSeed, beforeLast: () -> Void
    ) async throws {
        var generator = seed.generator(-1)
        var victim = Int.random(in: 0..<scene.count, using: &generator)
        for round in 0..<rounds {
            try await pause(300...900, &generator)
            if round % 2 == 1 { try await scene.cutConnections(for: .zero) }
            try await pause(0...400, &generator)
            _ = await scene.kill(victim)
            try await pause(0...400, &generator)
            try await scene.restart(victim)
            victim = (victim + Int.random(in: 1..<scene.count, using: &generator)) % scene.count
        }
        beforeLast()
        try await pause(0...60, &generator)
        for index in 1..<scene.count { _ = await scene.kill(index) }
        for index in 1..<scene.count { try await scene.restart(index) }
    }

    static func pause(_ milliseconds: ClosedRange<Int>, _ generator: inout SeededGenerator) async throws {
        try await Task.sleep(for: .milliseconds(Int.random(in: milliseconds, using: &generator)))
    }
}
