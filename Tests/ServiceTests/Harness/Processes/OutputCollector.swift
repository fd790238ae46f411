import Foundation
import NIOConcurrencyHelpers

/// Collects the whole output of a child.
final class OutputCollector: Sendable {
    private struct State {
        var data = Data()
        var isComplete = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = NIOLockedValueBox(State())

    /// - Parameter piece: empty at the end of the output.
    func append(_ piece: Data) {
        let waiting = state.withLockedValue { state in
            state.data.append(piece)
            if piece.isEmpty { state.isComplete = true }
            defer { if piece.isEmpty { state.waiting = nil } }
            return piece.isEmpty ? state.waiting : nil
        }
        waiting?.resume()
    }

    /// The complete output. Supports only one caller.
    func text() async -> String {
        await withCheckedContinuation { continuation in
            let isComplete = state.withLockedValue { state in
                if !state.isComplete { state.waiting = continuation }
                return state.isComplete
            }
            if isComplete { continuation.resume() }
        }
        return state.withLockedValue { String(decoding: $0.data, as: UTF8.self) }
    }
}
