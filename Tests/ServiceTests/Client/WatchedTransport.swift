import Foundation
import NIOConcurrencyHelpers
import RelayClient

/// Real sockets, seen by the test: what was answered, and an answer that gets lost where the test wants it.
final class WatchedTransport: RelayTransport {
    private struct State {
        var statuses: [Int] = []
        var unanswered = 0
        var answersToLose: Int
    }

    private let state: NIOLockedValueBox<State>
    private let sockets = URLSessionTransport()

    /// - Parameter losing: so many answers, the first ones, reach this side and not the app.
    init(losing: Int = 0) { state = NIOLockedValueBox(State(answersToLose: losing)) }

    /// Of the answers that came, in order.
    var statuses: [Int] { state.withLockedValue { $0.statuses } }
    /// Requests that ended without an answer.
    var unanswered: Int { state.withLockedValue { $0.unanswered } }

    func send(_ request: RelayRequest) async throws -> RelayAnswer {
        let answer: RelayAnswer
        do {
            answer = try await sockets.send(request)
        } catch {
            state.withLockedValue { $0.unanswered += 1 }
            throw error
        }
        let isLost = state.withLockedValue { state in
            state.statuses.append(answer.status)
            guard state.answersToLose > 0 else { return false }
            state.answersToLose -= 1
            return true
        }
        if isLost { throw URLError(.networkConnectionLost) }
        return answer
    }
}
