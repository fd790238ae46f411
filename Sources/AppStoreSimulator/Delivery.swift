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
            let status = await post(body)
            let isTaken = status.map { DeliverySchedule.isSuccess($0) } ?? false
            let wait = isTaken ? nil : schedule.wait(afterAttempt: attempts)
            let outcome = status.map { "HTTP \($0)" } ?? "no answer"
            say(wait.map { "\(outcome), next attempt in \($0)" } ?? outcome)
            guard let wait else { return isTaken }
            try await Task.sleep(for: wait)
        }
    }

    /// Nil where nothing answers.
    private func post(_ body: Data) async -> Int? {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: body))
        guard let response = try? await HTTPClient.shared.execute(request, timeout: .seconds(30)) else { return nil }
        return Int(response.status.code)
    }

    /// At once, also where it goes into a file: the next line may be hours away.
    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
