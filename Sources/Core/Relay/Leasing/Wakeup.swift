import NIOConcurrencyHelpers

/// A coalescing signal with one waiter. A signal without a waiter ends the next wait.
public final class Wakeup: Sendable {
    private enum State {
        case quiet
        case signalled
        case waiting(CheckedContinuation<Void, Never>)
    }

    private let state = NIOLockedValueBox(State.quiet)

    public init() {}

    public func signal() {
        let waiting: CheckedContinuation<Void, Never>? = state.withLockedValue { state in
            if case .waiting(let continuation) = state {
                state = .quiet
                return continuation
            }
            state = .signalled
            return nil
        }
        waiting?.resume()
    }

    /// Waits for a signal, for cancellation, or at most for `limit`.
    func wait(atMost limit: Duration) async {
        let alarm = Task {
            try? await Task.sleep(for: limit)
            if !Task.isCancelled { signal() }
        }
        defer { alarm.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSignalled = state.withLockedValue { state in
                    if case .signalled = state {
                        state = .quiet
                        return true
                    }
                    state = .waiting(continuation)
                    return false
                }
                if isSignalled { continuation.resume() }
            }
        } onCancel: {
            signal()
        }
    }
}
