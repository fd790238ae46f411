import NIOConcurrencyHelpers
public import RelayCore

/// One held poll. One task uses it; any thread may notify it, once for each wait.
public final class Waiter: Sendable {
    public enum Wake: Sendable {
        case changed(KnownValidation)
        case timeout
        /// The key that asked may have been revoked: see ``Waiter/takeDoubt()``.
        case keyInDoubt
        /// The client has disconnected, or the task was cancelled.
        case cancelled
        /// The process shuts down.
        case shutdown

        var isLasting: Bool {
            switch self {
            case .changed, .timeout, .keyInDoubt: false
            case .cancelled, .shutdown: true
            }
        }

        var isChange: Bool {
            if case .changed = self { true } else { false }
        }
    }

    private enum State {
        case idle
        case waiting(CheckedContinuation<Wake, Never>, until: ContinuousClock.Instant)
        /// Notified without a wait: the next wait returns at once.
        case woken(Wake)
        /// The client has disconnected or the process shuts down: every wait from now on returns at once.
        case over(Wake)
    }

    public let id: ValidationID
    /// The key that asked.
    public let key: APIKeyID?
    private let hub: ChangeHub
    private let state = NIOLockedValueBox(State.idle)
    private let isKeyInDoubt = NIOLockedValueBox(false)

    init(id: ValidationID, key: APIKeyID?, hub: ChangeHub) {
        self.id = id
        self.key = key
        self.hub = hub
    }

    /// Waits until the waiter is notified, or until `deadline`.
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

    /// Whether the key may have been revoked since the last call. Another wake does not hide it.
    public func takeDoubt() -> Bool {
        isKeyInDoubt.withLockedValue { isInDoubt in
            defer { isInDoubt = false }
            return isInDoubt
        }
    }

    public func wake(_ wake: Wake) {
        if case .keyInDoubt = wake { isKeyInDoubt.withLockedValue { $0 = true } }
        let continuation: CheckedContinuation<Wake, Never>? = state.withLockedValue { state in
            switch state {
            case .waiting(let continuation, _):
                state = wake.isLasting ? .over(wake) : .idle
                return continuation
            case .woken(.changed) where !wake.isLasting && !wake.isChange: break
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

    /// Ends the wait at its deadline. The timer of an ended wait notifies no task.
    func timeOut(at now: ContinuousClock.Instant) {
        let continuation: CheckedContinuation<Wake, Never>? = state.withLockedValue { state in
            guard case .waiting(let continuation, let deadline) = state, deadline <= now else { return nil }
            state = .idle
            return continuation
        }
        continuation?.resume(returning: .timeout)
    }

    /// Unregisters the waiter; it must not wait again.
    public func leave() {
        hub.remove(self)
    }
}
