import AppleStore
import ArgumentParser
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
            let (items, next) = try await DatabaseSession.run(option) {
                try await $0.notifications(matching: filter, in: .all)
            }
            try page.write(
                items, next: next,
                columns: [
                    "NOTIFICATION", "RECEIVED", "TYPE", "ORIGINAL TRANSACTION", "TO CLEENG", "TRIES", "LAST ERROR",
                ],
                row: { one in
                    [
                        "\(one.id)", one.receivedAt.rfc3339,
                        [one.type, one.subtype].compactMap(\.self).joined(separator: " "),
                        one.originalTransactionID?.text ?? "-", one.relay.name, "\(one.attempts)", one.lastError ?? "-",
                    ]
                },
                json: { one in
                    [
                        "id": "\(one.id)", "receivedAt": one.receivedAt.rfc3339, "signedDate": one.signedAt.rfc3339,
                        "type": one.type, "subtype": one.subtype, "notificationUUID": one.uuid,
                        "originalTransactionId": one.originalTransactionID?.text, "environment": one.environment.text,
                        "publisher": one.publisher.text, "relay": one.relay.name, "attempts": "\(one.attempts)",
                        "lastError": one.lastError,
                    ]
                })
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
            guard let id = NotificationID(id) else { throw Self.unknown }
            let reader = try option.settings()
            let (apple, relays) = try ConfigurationOption.reporting {
                (try AppleSettings(reader), try reader.each { try NotificationSettings($0) })
            }
            let policy = NotificationPolicy(
                trust: ChainOfTrust(apple.roots), scope: apple.scope, sharedSecret: apple.sharedSecret)
            let reason = reason.trimmingSpace()
            try await DatabaseSession.run(option) { store in
                try await reader.roster.read(store)
                guard let (item, body) = try await store.notification(id, in: .all) else { throw Self.unknown }
                let notification: StoreNotification
                do {
                    notification = try await policy.judge(try ServerNotification(body: body.value))
                } catch let refusal as NotGenuine {
                    ConfigurationOption.complain("it is not genuine by these settings: \(refusal.detail)")
                    throw ExitCode(1)
                }
                try await store.replay(
                    item, notification, isRelayed: relays.map { $0.url != nil }.isRelayed(for: item.publisher),
                    leeway: apple.renewalLeeway, by: ShellUser.name, reason: reason)
            }
            print("heard and passed on again")
        }

        private static var unknown: ExitCode {
            ConfigurationOption.complain(
                "there is no notification with that id; `receipt-relay notifications list` shows them")
            return ExitCode(1)
        }
    }
}
