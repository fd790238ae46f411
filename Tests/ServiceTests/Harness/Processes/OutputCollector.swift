import Foundation
import NIOConcurrencyHelpers

/// The output of a child, for who wants all of it.
final class OutputCollector: Sendable {
    private struct State {
        var data = Data()
        var isComplete = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = NIOLockedValueBox(State())

    /// - Parameter piece: empty at the end.
    func append(_ piece: Data) {
        let waiting = state.withLockedValue { state in
            state.data.append(piece)
            if piece.isEmpty { state.isComplete = true }
            defer { if piece.isEmpty { state.waiting = nil } }
            return piece.isEmpty ? state.waiting : nil
        }
        waiting?.resume()
    }

    /// Once it is complete. To be asked by one.
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
