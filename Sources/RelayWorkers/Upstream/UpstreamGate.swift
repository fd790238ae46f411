import Metrics
import NIOConcurrencyHelpers
import RelayCore

/// ``CallGate`` with tasks that wait before it. Its time is this process's monotonic clock: no jump of any other clock holds
/// calls back.
final class UpstreamGate: Sendable {
    private typealias Waiter = CheckedContinuation<CallGate.Pass?, Never>

    private struct State {
        var gate: CallGate
        var waiters: [UInt64: Waiter] = [:]
        var lastNumber: UInt64 = 0
    }

    private let time = MonotonicTime()
    private let waits: KeptMetrics<UpstreamRoute, Timer>
    private let state: NIOLockedValueBox<State>

    /// - Parameter account: the publisher whose own account at Cleeng it is; nil for the one that publishers share.
    init(capacity: Int, account: PublisherID? = nil) {
        state = NIOLockedValueBox(State(gate: CallGate(capacity: capacity, since: Timestamp(microseconds: 0))))
        waits = KeptMetrics { route in
            Timer(label: "relay_upstream_wait", dimensions: Upstream.labels(route.rawValue, account))
        }
    }

    /// Since this gate was made.
    var now: Timestamp { time.now }

    func breaker(_ route: UpstreamRoute) -> CircuitBreaker { state.withLockedValue { $0.gate[route] } }

    func load(of route: UpstreamRoute) -> (inFlight: Int, waiting: Int) {
        state.withLockedValue { $0.gate.load(of: route) }
    }

    /// The right to a probe, where the route is shut and it is time for one.
    func probe(on route: UpstreamRoute) -> CallGate.Pass? {
        let (now, jitter) = (now, Double.random(in: 0..<1))
        return state.withLockedValue { $0.gate.probe(on: route, at: now, jitter: jitter) }
    }

    /// Waits for its turn.
    ///
    /// - Returns: nil where the route is shut, or becomes so while it waits, or `limit` is over, or the task is cancelled.
    func enter(_ route: UpstreamRoute, atMost limit: Duration? = nil) async -> CallGate.Pass? {
        let began = ContinuousClock.now
        let number = state.withLockedValue { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        var alarm: Task<Void, Never>?
        defer { alarm?.cancel() }
        let pass = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isWaiting = line(up: waiter, number, on: route)
                // Most calls find a free place, and need no alarm.
                if isWaiting, let limit {
                    alarm = Task {
                        try? await Task.sleep(for: limit)
                        if !Task.isCancelled { giveUp(number, on: route) }
                    }
                }
                // A cancellation that came before it stood in line found nobody there.
                if Task.isCancelled { giveUp(number, on: route) }
            }
        } onCancel: {
            giveUp(number, on: route)
        }
        if pass != nil {
            waits[route].record(duration: ContinuousClock.now - began)
        }
        return pass
    }

    /// - Returns: whether it waits.
    private func line(up waiter: Waiter, _ number: UInt64, on route: UpstreamRoute) -> Bool {
        let arrival = state.withLockedValue { state in
            let arrival = state.gate.arrive(number, on: route)
            if arrival == .waiting { state.waiters[number] = waiter }
            return arrival
        }
        switch arrival {
        case .admitted(let pass): waiter.resume(returning: pass)
        case .refused: waiter.resume(returning: nil)
        case .waiting: return true
        }
        return false
    }

    private func giveUp(_ number: UInt64, on route: UpstreamRoute) {
        let waiter = state.withLockedValue { state in
            _ = state.gate.giveUp(number, on: route)
            return state.waiters.removeValue(forKey: number)
        }
        waiter?.resume(returning: nil)
    }

    /// Gives a pass back; once more does nothing.
    ///
    /// - Parameter result: nil where no call was made, or it was broken off by ourselves.
    @discardableResult
    func leave(_ pass: CallGate.Pass, _ result: CallResult? = nil) -> BreakerChange {
        let (now, jitter) = (now, Double.random(in: 0..<1))
        let (change, resolved) = state.withLockedValue { state in
            let before = state.gate[pass.route]
            let resolutions = state.gate.end(pass, result, at: now, jitter: jitter)
            let resolved = resolutions.map { (state.waiters.removeValue(forKey: $0.waiter), $0.pass) }
            return (BreakerChange(before: before, after: state.gate[pass.route]), resolved)
        }
        for (waiter, pass) in resolved { waiter?.resume(returning: pass) }
        return change
    }
}
