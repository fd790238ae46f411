import Foundation
import TestSupport

/// Where the randomness of a test of this kind comes from. `RELAY_DELIVERY_SEED` is another seed than the standing one, which is the
/// same in every run, so that a failure speaks of what was changed. (What happens at once in several processes has no seed.)
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

    /// Another one for each part, so that what one of them does changes nothing for the others.
    func generator(_ part: Int) -> SeededGenerator {
        SeededGenerator(seed: number &* 1_000_003 &+ UInt64(truncatingIfNeeded: part))
    }
}
