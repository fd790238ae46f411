import Foundation
import TestSupport

/// Seed of a test's random choices. By default it is always the same, so that a failure comes from a change of the
/// code. `RELAY_DELIVERY_SEED` sets another one. Concurrency between processes has no seed.
struct ChaosSeed: Sendable, CustomStringConvertible {
    let number: UInt64

    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        guard let text = environment["RELAY_DELIVERY_SEED"], !text.isEmpty else {
            number = 20_261
            return
        }
        guard let asked = UInt64(text) else { throw HarnessError.failed("RELAY_DELIVERY_SEED", [text]) }
        number = asked
    }

    var description: String { "RELAY_DELIVERY_SEED=\(number)" }

    /// A generator for each part, so that the parts do not influence each other.
    func generator(_ part: Int) -> SeededGenerator {
        SeededGenerator(seed: number &* 1_000_003 &+ UInt64(truncatingIfNeeded: part))
    }
}
