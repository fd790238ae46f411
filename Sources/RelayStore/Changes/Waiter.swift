import NIOConcurrencyHelpers
import RelayCore

/// One held poll. Used by one task; woken from anywhere, once for each wait.
public final class Waiter: Sendable {
    public enum Wake: Sendable {
        case changed(Validation)
        case timeout
        /// The client has gone, or the task was cancelled.
        case cancelled
        /// The process is going.
        case shutdown
    }

    private enum State {
        case idle
        case waiting(CheckedContinuation<Wake, Never>)
        /// Woken while nobody waited: the next wait returns at once.
        case woken(Wake)
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
        hub.schedule(self, at: deadline)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early: Wake? = state.withLockedValue { state in
                    if case .woken(let wake) = state {
                        state = .idle
                        return wake
                    }
                    state = .waiting(continuation)
                    return nil
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            wake(.cancelled)
        }
    }

    public func wake(_ wake: Wake) {
        let continuation: CheckedContinuation<Wake, Never>? = state.withLockedValue { state in
            switch state {
            case .waiting(let continuation):
                state = .idle
                return continuation
            case .idle:
                state = .woken(wake)
                return nil
            case .woken(let earlier):
                // A departure outlasts anything; a change outlasts a mere timeout.
                if case .timeout = earlier { state = .woken(wake) }
                return nil
            }
        }
        continuation?.resume(returning: wake)
    }

    /// The poll is over: nobody will wait again.
    public func leave() {
        hub.remove(self)
    }
}
