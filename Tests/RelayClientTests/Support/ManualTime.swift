import Synchronization

@testable import RelayClient

/// A clock that jumps to the end of every pause.
final class ManualTime: Sendable {
    private let state = Mutex((now: ContinuousClock.now, pauses: [Duration]()))

    var pauses: [Duration] { state.withLock { $0.pauses } }

    func pass(_ duration: Duration) { state.withLock { $0.now += duration } }

    var keeper: Timekeeper {
        Timekeeper(
            now: { self.state.withLock { $0.now } },
            sleep: { duration in
                try Task.checkCancellation()
                self.state.withLock {
                    $0.pauses.append(duration)
                    $0.now += duration
                }
            })
    }
}
