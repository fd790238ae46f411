import AppStoreSimulation
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Posts a notification until it is taken, or the schedule is at its end.
struct Delivery: Sendable {
    let url: String
    let schedule: DeliverySchedule

    /// Writes a line for each attempt.
    ///
    /// - Returns: whether it was taken.
    func run(_ body: Data) async throws -> Bool {
        var attempts = 0
        while true {
            attempts += 1
            let status = await Self.post(body, to: url)
            let isTaken = status.map { DeliverySchedule.isSuccess($0) } ?? false
            let wait = isTaken ? nil : schedule.wait(afterAttempt: attempts)
            let outcome = status.map { "HTTP \($0)" } ?? "no answer"
            try StandardOutput.say(wait.map { "\(outcome), next attempt in \($0)" } ?? outcome)
            guard let wait else { return isTaken }
            try await Task.sleep(for: wait)
        }
    }

    /// Once.
    ///
    /// - Returns: nil where nothing answers.
    static func post(_ body: Data, to url: String) async -> Int? {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: body))
        guard let response = try? await HTTPClient.shared.execute(request, timeout: .seconds(30)) else { return nil }
        return Int(response.status.code)
    }
}
