import AppleStore
import ArgumentParser
import Relay
import RelayCore
import StoreSignals
import Webhooks

struct Notifications: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The stores' notifications, and how far each has come.",
        subcommands: [List.self, Consumption.self, Confirm.self, Replay.self, Test.self], defaultSubcommand: List.self)

    struct List: ListCommand {
        static let configuration = CommandConfiguration(abstract: "Lists notifications, newest first.")

        @Option(
            help:
                "Only those that are off, pending, delivered or parked: on their way to Cleeng, or until their store is asked."
        )
        var status: String?

        @Option(help: "Only of this subscription.")
        var originalTransactionId: TransactionID?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        static let columns = OpsNotification.columns(
            "id", "receivedAt", "type", "originalTransactionId", "relay", "attempts", "lastError")

        func reader() throws -> PageReader<OpsNotification, ValidationCursor> {
            let filter = NotificationFilter(
                relay: try choice("--status", status, \.name), originalTransactionID: originalTransactionId,
                limit: page.limit, cursor: try page.cursor { ValidationCursor($0) })
            return { try await $0.ops.notifications(matching: filter, in: .all) }
        }
    }

    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Confirms a subscription to a topic of Amazon SNS, so that its messages come.",
            discussion: """
                The notification is a SubscriptionConfirmation, or an UnsubscribeConfirmation whose subscription is to go on. Its topic must be \
                one of RELAY_AMAZON_SNS_TOPICS. Exits 1 where SNS does not confirm it.
                """)

        @Argument(help: "The notification's id, as `notifications list` shows it.")
        var id: String

        @OptionGroup var reason: ReasonOption
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            guard let id = NotificationID(id) else { throw ActRefusal.unknown(.notification) }
            let reader = try option.settings()
            let client = GuardedClient(policy: try WebhookSettings(reader).policy)
            let confirmer = try AmazonSettings(reader).confirmer(client)
            let reason = reason.text
            let answer: TopicConfirmation
            do {
                answer = try await DatabaseSession.run(option) { store in
                    try await reader.roster.read(store)
                    return try await Operations(store: store).perform(
                        .confirm(notification: id, confirmer), by: ShellUser.actor, reason: reason)
                }
            } catch {
                await client.shutDown()
                throw error
            }
            await client.shutDown()
            switch answer {
            case .confirmed: print("confirmed")
            case .refused(let why):
                Failure.complain("SNS refuses it (\(why)): subscribe the endpoint to the topic again")
                throw ExitCode(1)
            case .away(let why):
                Failure.complain("SNS cannot be asked now: \(why)")
                throw ExitCode(1)
            }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Processes a notification again, and passes it on to Cleeng, or asks its store, again.",
            discussion: "Takes the settings of the service: what is not genuine by them is refused.")

        @Argument(help: "The notification's id, as `notifications list` shows it.")
        var id: String

        @OptionGroup var reason: ReasonOption
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            guard let id = NotificationID(id) else { throw ActRefusal.unknown(.notification) }
            let reader = try option.settings()
            let apple = try AppleSettings(reader)
            let relays = try reader.each { try NotificationSettings($0) }
            let policy = NotificationPolicy(
                trust: ChainOfTrust(apple.roots), scope: apple.scope, sharedSecret: apple.sharedSecret)
            let judge = NotificationReader(
                policy: policy, isRelayed: relays.map { $0.url != nil })
            let reason = reason.text
            try await DatabaseSession.run(option) { store in
                try await reader.roster.read(store)
                try await Operations(store: store).perform(
                    .replay(notification: id, judge), by: ShellUser.actor, reason: reason)
            }
            print("processed and passed on again")
        }
    }
}
