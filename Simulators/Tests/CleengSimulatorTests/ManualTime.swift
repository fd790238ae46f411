import NIOConcurrencyHelpers

@testable import CleengSimulator

/// A clock that moves only when a test says so.
final class ManualTime: Sendable {
    private let moment: NIOLockedValueBox<SimulatedTime>

    init(_ start: SimulatedTime = SimulatedTime(unixSeconds: 1_800_000_000)) {
        moment = NIOLockedValueBox(start)
    }

    var now: SimulatedTime { moment.withLockedValue { $0 } }
    var clock: SimulatorClock { SimulatorClock { [moment] in moment.withLockedValue { $0 } } }

    func advance(milliseconds: Int64) {
        moment.withLockedValue { $0 = $0.adding(milliseconds: milliseconds) }
    }
}
