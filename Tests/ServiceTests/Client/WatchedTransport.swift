import Foundation
import NIOConcurrencyHelpers
import RelayClient

/// Real sockets under observation: records answers, and loses some of them if the test says so.
final class WatchedTransport: RelayTransport {
    private struct State {
        var statuses: [Int] = []
        var unanswered = 0
        var answersToLose: Int
    }

    private let state: NIOLockedValueBox<State>
    private let sockets = URLSessionTransport()

    /// - Parameter losing: number of first answers that arrive here but do not reach the app.
    init(losing: Int = 0) { state = NIOLockedValueBox(State(answersToLose: losing)) }

    /// Statuses of the answers, in order.
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
