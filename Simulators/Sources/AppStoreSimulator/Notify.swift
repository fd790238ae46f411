import AppStoreSimulation
import ArgumentParser
import Foundation

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

    @Option(help: "A running serve that is told of it too, such as http://127.0.0.1:8091.")
    var api: String?

    @Flag(help: "It is not posted: only the API is told of it.")
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
        let told = notification.notification(at: Date())
        let body = try notification.sign(told)
        let api = api.map { ToldAPI(url: $0) }
        // Whoever hears of it may ask at once.
        try await api?.put(told)
        guard !lost, let to else {
            try await api?.add(body, .noResponse)
            return try StandardOutput.say("lost")
        }
        guard try await Delivery(url: to, schedule: schedule, api: api).run(body) else { throw ExitCode.failure }
    }
}
