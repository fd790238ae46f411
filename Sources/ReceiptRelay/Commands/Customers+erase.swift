import ArgumentParser
import Formats
import Relay
import RelayCore

extension Customers {
    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Takes a customer out of the database: purchases, receipts, subscriptions' owners, messages.",
            discussion: """
                What stays names nobody: subscriptions' ledgers and Apple's notifications by their numbers, contracts by the publisher's ids, a \
                line in the audit log. Cleeng and the publisher keep what they have; backups and the write-ahead log keep it until they are \
                over. Exits 1 where nothing is known of them, or where a purchase is still waited for.
                """)

        @Argument(help: "The email; of somebody who never bought by email, the publisher's own name.")
        var customer: String

        @Option(help: "Whose name it is, if it is no email and several publishers have such a customer.")
        var publisher: String?

        @Option(help: "Why, for the audit log. It must not name them.")
        var reason: String

        @Flag(help: "Only says what would go.")
        var dryRun = false

        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            guard !reason.trimmingSpace().isEmpty else { throw ValidationError("--reason is missing") }
        }

        func run() async throws {
            let (customer, reason, isDryRun) = (customer.trimmingSpace(), reason.trimmingSpace(), dryRun)
            let publisher = publisher.map { PublisherID($0) }
            try await DatabaseSession.run(option) { store in
                let identity = try await store.customers.identity(of: customer, publisher: publisher)
                guard !isDryRun else {
                    guard !identity.isUnknown || identity.isEmail else { throw ExitCode(1) }
                    let titles = store.customers.mentioning.map(\.title).joined(separator: ", ")
                    let mentions = identity.isEmail ? "; where the email is mentioned: \(titles)" : ""
                    return print(
                        "would go: \(identity.validations.count) purchases, \(identity.subscriptions.count) subscriptions' owners, \(identity.names.count) names\(mentions)"
                    )
                }
                let outcome = try await Operations(store: store).perform(
                    .erase(identity), by: ShellUser.actor, reason: reason)
                print(
                    "erased: \(outcome.validations) purchases, \(outcome.subscriptions) subscriptions' owners, \(outcome.transfers) transfers, \(outcome.messages) messages"
                        + store.customers.mentioning.map { ", \(outcome.mentions[$0.member] ?? 0) \($0.title)" }
                        .joined()
                )
                if outcome.unreadable > 0 {
                    print(
                        "\(outcome.unreadable) rows that may mention the email cannot be opened, and stay: look at `status` for parked events"
                    )
                }
                print("copies may tell what they had in memory for another fifteen seconds")
            }
        }
    }
}
