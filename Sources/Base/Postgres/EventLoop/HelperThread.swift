import Foundation
import NIOConcurrencyHelpers

/// Runs blocking libpq calls, each on its own thread, because a call may hang as long as the network does.
enum HelperThread {
    private enum State<T: Sendable>: Sendable {
        case idle
        case waiting(CheckedContinuation<T, any Error>)
        case over
    }

    /// - Throws: `CancellationError` at once if the task is cancelled; the call then continues and its result is
    ///   dropped.
    static func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async throws -> T {
        let state = NIOLockedValueBox(State<T>.idle)
        @Sendable func end(_ result: Result<T, any Error>) {
            let waiting = state.withLockedValue { state -> CheckedContinuation<T, any Error>? in
                defer { state = .over }
                guard case .waiting(let continuation) = state else { return nil }
                return continuation
            }
            waiting?.resume(with: result)
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLockedValue { state in
                    guard case .idle = state else { return true }
                    state = .waiting(continuation)
                    return false
                }
                guard !isOver else { return continuation.resume(throwing: CancellationError()) }
                Thread { end(.success(work())) }.start()
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }
}
