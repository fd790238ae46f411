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
    var to: String

    @Option(help: "Seconds from each attempt to the next, such as 1,2,4; without it, as Apple does.")
    var retrySeconds: RetrySeconds?

    @Option(help: "How many times faster than Apple it tries again.")
    var speed = 1.0

    func validate() throws {
        try OptionChecks.url(to)
        guard (0.001...1_000_000_000).contains(speed) else { throw ValidationError("--speed is more than 0") }
    }

    func run() async throws {
        let schedule =
            retrySeconds?.schedule ?? DeliverySchedule(environment: notification.environment, speed: speed)
        guard try await Delivery(url: to, schedule: schedule).run(notification.body()) else { throw ExitCode.failure }
    }
}
