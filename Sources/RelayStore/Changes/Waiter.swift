import NIOConcurrencyHelpers
import RelayCore

/// One held poll. Used by one task; notified from anywhere, once for each wait.
public final class Waiter: Sendable {
    public enum Wake: Sendable {
        case changed(KnownValidation)
        case timeout
        /// The client has gone, or the task was cancelled.
        case cancelled
        /// The process is going.
        case shutdown

        var isLasting: Bool {
            switch self {
            case .changed, .timeout: false
            case .cancelled, .shutdown: true
            }
        }

        var isTimeout: Bool {
            if case .timeout = self { true } else { false }
        }
    }

    private enum State {
        case idle
        case waiting(CheckedContinuation<Wake, Never>, until: ContinuousClock.Instant)
        /// Notified without a wait: the next wait returns at once.
        case woken(Wake)
        /// The client or the process has gone: so does every wait from now on.
        case over(Wake)
    }

    public let id: ValidationID
    private let hub: ChangeHub
    private let state = NIOLockedValueBox(State.idle)

    init(id: ValidationID, hub: ChangeHub) {
        self.id = id
        self.hub = hub
    }

    /// Until something happens, `deadline` at the latest.
    public func wait(until deadline: ContinuousClock.Instant) async -> Wake {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early: Wake? = state.withLockedValue { state in
                    switch state {
                    case .over(let wake): return wake
                    case .woken(let wake):
                        state = .idle
                        return wake
                    case .idle, .waiting:
                        state = .waiting(continuation, until: deadline)
                        return nil
                    }
                }
                if let early { continuation.resume(returning: early) } else { hub.schedule(self, at: deadline) }
            }
        } onCancel: {
            wake(.cancelled)
        }
    }

    public func wake(_ wake: Wake) {
        let continuation: CheckedContinuation<Wake, Never>? = state.withLockedValue { state in
            switch state {
            case .waiting(let continuation, _):
                state = wake.isLasting ? .over(wake) : .idle
                return continuation
            case .woken(.changed) where wake.isTimeout: break
            case .idle, .woken: state = wake.isLasting ? .over(wake) : .woken(wake)
            case .over: break
            }
            return nil
        }
        continuation?.resume(returning: wake)
    }

    func isWaiting(until deadline: ContinuousClock.Instant) -> Bool {
        state.withLockedValue { state in
            if case .waiting(_, until: deadline) = state { true } else { false }
        }
    }

    /// The timer of a wait that is over already wakes nobody.
    func timeOut(at now: ContinuousClock.Instant) {
        let continuation: CheckedContinuation<Wake, Never>? = state.withLockedValue { state in
            guard case .waiting(let continuation, let deadline) = state, deadline <= now else { return nil }
            state = .idle
            return continuation
        }
        continuation?.resume(returning: .timeout)
    }

    /// The poll is over: nobody will wait again.
    public func leave() {
        hub.remove(self)
    }
}
