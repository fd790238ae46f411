import AppStoreSimulation
import Foundation
import NIOHTTP1

/// Posts a notification until it is taken, or the schedule is at its end.
struct Delivery: Sendable {
    let url: String
    let schedule: DeliverySchedule
    /// Is told of each attempt.
    let api: ToldAPI?

    /// Writes a line for each attempt.
    ///
    /// - Returns: whether it was taken.
    func run(_ body: Data) async throws -> Bool {
        var attempts = 0
        while true {
            attempts += 1
            let status = await HTTPCall.send(.POST, body, to: url)
            try await api?.add(body, SendAttempt.Result(status: status))
            let isTaken = status.map { DeliverySchedule.isSuccess($0) } ?? false
            let wait = isTaken ? nil : schedule.wait(afterAttempt: attempts)
            let outcome = HTTPCall.outcome(status)
            try StandardOutput.say(wait.map { "\(outcome), next attempt in \($0)" } ?? outcome)
            guard let wait else { return isTaken }
            try await Task.sleep(for: wait)
        }
    }
}
