import AppStoreSimulation
import ArgumentParser
import Foundation
import NIOHTTP1
import SimulatorKit

/// `app-store-simulator notify --roots FOLDER --to URL --type TYPE`
struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Signs a version 2 notification and posts it.",
        discussion: """
            Taken is what is answered with 200 to 206; else it exits with 1, once there is no further attempt. Apple tries \
            again after 1, 12, 24, 48 and 72 hours in production, and never in the sandbox.
            """)

    @OptionGroup var notification: NotificationOptions

    @Option(help: "Where to, such as http://127.0.0.1:8080/apple/notifications.")
    var to: String?

    @Option(help: "Seconds from each attempt to the next, such as 1,2,4; without it, as Apple does.")
    var retrySeconds: RetrySeconds?

    @Option(help: "How many times faster than Apple it tries again.")
    var speed = 1.0

    @Option(help: "A running serve that receives it too, such as http://127.0.0.1:8091.")
    var api: String?

    @Flag(help: "It is not posted: only the API receives it.")
    var lost = false

    func validate() throws {
        if let to { try OptionChecks.url(to) }
        if let api { try OptionChecks.url(api, of: "--api") }
        guard lost || to != nil else { throw ValidationError("--to is needed, except with --lost") }
        guard !lost || api != nil else { throw ValidationError("--lost needs --api") }
        guard (0.001...1_000_000_000).contains(speed) else { throw ValidationError("--speed is more than 0") }
    }

    func run() async throws {
        let schedule =
            retrySeconds?.schedule ?? DeliverySchedule(environment: notification.environment, speed: speed)
        let signed = notification.notification(at: Date())
        let body = try notification.sign(signed)
        let api = api.map { SimulatedAPIClient(url: $0) }
        // A receiver may query the API at once.
        try await api?.put(signed)
        guard !lost, let to else {
            try await api?.add(body, .noResponse)
            return try StandardOutput.say("lost")
        }
        guard try await Delivery(url: to, schedule: schedule, api: api).run(body) else { throw ExitCode.failure }
    }
}

/// `1,2,4`: seconds between attempts. An empty text means none.
struct RetrySeconds: ExpressibleByArgument {
    let schedule: DeliverySchedule

    init?(argument: String) {
        let texts = argument.isEmpty ? [] : argument.split(separator: ",", omittingEmptySubsequences: false)
        let seconds = texts.compactMap { Double($0) }.filter { (0...31_536_000).contains($0) }
        guard seconds.count == texts.count else { return nil }
        schedule = DeliverySchedule(waits: seconds.map { Duration.seconds($0) })
    }
}

/// Posts a notification until it is accepted or the schedule ends.
struct Delivery: Sendable {
    let url: String
    let schedule: DeliverySchedule
    /// Records each attempt.
    let api: SimulatedAPIClient?

    /// Prints a line for each attempt.
    ///
    /// - Returns: whether it was accepted.
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
