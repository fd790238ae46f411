import AppleStore
import ArgumentParser
import Operations
import RelayCore
import RelayStore

struct Notifications: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The App Store's notifications, and how far each has come to Cleeng.",
        subcommands: [List.self, Replay.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists notifications, newest first.")

        @Option(help: "Only those that are off, pending, delivered or parked on their way to Cleeng.")
        var status: String?

        @Option(help: "Only of this subscription.")
        var originalTransactionId: TransactionID?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        private var relay: OpsNotification.RelayStatus? {
            OpsNotification.RelayStatus.allCases.first { $0.name == status }
        }

        func validate() throws {
            guard status == nil || relay != nil else {
                let names = OpsNotification.RelayStatus.allCases.map(\.name).joined(separator: ", ")
                throw ValidationError("--status is one of \(names)")
            }
            try page.check { ValidationCursor($0) != nil }
        }

        func run() async throws {
            let filter = NotificationFilter(
                relay: relay, originalTransactionID: originalTransactionId, limit: page.limit,
                cursor: page.cursor.flatMap { ValidationCursor($0) })
            try page.write(
                try await DatabaseSession.run(option) { try await $0.notifications(matching: filter, in: .all) },
                columns: OpsNotification.columns(
                    "id", "receivedAt", "type", "originalTransactionId", "relay", "attempts", "lastError"))
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Hears a notification once more, and passes it on to Cleeng again.",
            discussion: "Takes the settings of the service: what is not genuine by them is refused.")

        @Argument(help: "The notification's id, as `notifications list` shows it.")
        var id: String

        @Option(help: "Why; it is recorded.")
        var reason: String

        @OptionGroup var option: ConfigurationOption

        func validate() throws { try Validations.check(reason: reason) }

        func run() async throws {
            guard let id = NotificationID(id) else { throw DatabaseSession.refusal(.unknown(.notification)) }
            let reader = try option.settings()
            let (apple, relays) = try ConfigurationOption.reporting {
                (try AppleSettings(reader), try reader.each { try NotificationSettings($0) })
            }
            let policy = NotificationPolicy(
                trust: ChainOfTrust(apple.roots), scope: apple.scope, sharedSecret: apple.sharedSecret)
            let judge = NotificationReader(
                policy: policy, isRelayed: relays.map { $0.url != nil }, leeway: apple.renewalLeeway)
            let reason = reason.trimmingSpace()
            try await DatabaseSession.run(option) { store in
                try await reader.roster.read(store)
                try await Operations(store: store).perform(
                    .replay(notification: id, judge), by: ShellUser.actor, reason: reason)
            }
            print("heard and passed on again")
        }
    }
}
