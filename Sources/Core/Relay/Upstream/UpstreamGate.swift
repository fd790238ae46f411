import Metrics
import NIOConcurrencyHelpers
import RelayCore

/// A ``CallGate`` with waiting tasks. Its time is this process's monotonic clock, so a jump of another clock does not
/// delay calls.
final class UpstreamGate: Sendable {
    private typealias Waiter = CheckedContinuation<CallGate.Pass?, Never>

    private struct State {
        var gate: CallGate
        var waiters: [UInt64: Waiter] = [:]
        var lastNumber: UInt64 = 0
    }

    private let waits: KeptMetrics<UpstreamRoute, Timer>
    private let state: NIOLockedValueBox<State>

    /// - Parameter account: publisher that owns the account at Cleeng; nil for the shared account.
    init(capacity: Int, account: PublisherID? = nil) {
        state = NIOLockedValueBox(State(gate: CallGate(capacity: capacity, since: .now)))
        waits = KeptMetrics { route in
            Timer(label: "relay_upstream_wait", dimensions: Upstream.labels(route.rawValue, account))
        }
    }

    func breaker(_ route: UpstreamRoute) -> CircuitBreaker { state.withLockedValue { $0.gate[route] } }

    func load(of route: UpstreamRoute) -> (inFlight: Int, waiting: Int) {
        state.withLockedValue { $0.gate.load(of: route) }
    }

    /// A pass for a probe, if the route is shut and a probe is due.
    func probe(on route: UpstreamRoute) -> CallGate.Pass? {
        let (now, jitter) = (ContinuousClock.now, Double.random(in: 0..<1))
        return state.withLockedValue { $0.gate.probe(on: route, at: now, jitter: jitter) }
    }

    /// Waits for a pass.
    ///
    /// - Returns: nil if the route is shut or is shut during the wait, `limit` is over, or the task is cancelled.
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
                // Most calls are admitted at once and need no alarm.
                if isWaiting, let limit {
                    alarm = Task {
                        try? await Task.sleep(for: limit)
                        if !Task.isCancelled { giveUp(number, on: route) }
                    }
                }
                // A cancellation before this point found no waiter to resume.
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

    /// - Returns: whether the call waits.
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

    /// Releases a pass. Does nothing if it was released already.
    ///
    /// - Parameter result: nil if no call was made, or if the relay itself cancelled it.
    @discardableResult
    func leave(_ pass: CallGate.Pass, _ result: CallResult? = nil) -> BreakerChange {
        let (now, jitter) = (ContinuousClock.now, Double.random(in: 0..<1))
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
