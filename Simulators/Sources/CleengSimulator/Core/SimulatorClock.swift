import Foundation

/// Tells the time. Handed in, so that tests decide what time it is.
struct SimulatorClock: Sendable {
    /// The present moment; never earlier than the one before.
    let now: @Sendable () -> Moment

    /// Wall time at the start plus what a monotonic clock has counted since: a step of the wall clock must neither
    /// delay a grant nor make two forwards look as if they overlapped.
    static func system() -> SimulatorClock {
        let wallAtStart = Int64(Date().timeIntervalSince1970 * 1_000_000)
        let start = ContinuousClock.now
        return SimulatorClock {
            let elapsed = (ContinuousClock.now - start).components
            let microseconds = elapsed.seconds * 1_000_000 + elapsed.attoseconds / 1_000_000_000_000
            return Moment(microseconds: wallAtStart + microseconds)
        }
    }
}
