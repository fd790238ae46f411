import NIOConcurrencyHelpers

/// A bell: rung from anywhere, heard by one. A ring while nobody listens is heard by the next wait.
public final class Wakeup: Sendable {
    private enum State {
        case quiet
        case rung
        case waiting(CheckedContinuation<Void, Never>)
    }

    private let state = NIOLockedValueBox(State.quiet)

    public init() {}

    public func ring() {
        let waiting: CheckedContinuation<Void, Never>? = state.withLockedValue { state in
            if case .waiting(let continuation) = state {
                state = .quiet
                return continuation
            }
            state = .rung
            return nil
        }
        waiting?.resume()
    }

    /// Until rung, or the task is cancelled, or `limit` is over.
    func wait(atMost limit: Duration) async {
        let alarm = Task {
            try? await Task.sleep(for: limit)
            if !Task.isCancelled { ring() }
        }
        defer { alarm.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRung = state.withLockedValue { state in
                    if case .rung = state {
                        state = .quiet
                        return true
                    }
                    state = .waiting(continuation)
                    return false
                }
                if isRung { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
    }
}
