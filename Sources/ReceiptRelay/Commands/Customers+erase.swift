import ArgumentParser
import Operations
import RelayCore
import RelayStore

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
            let lines = try await DatabaseSession.run(option) { store -> [String]? in
                let identity = try await store.identity(of: customer)
                guard !isDryRun else {
                    return identity.isUnknown
                        ? nil
                        : [
                            "would go: \(identity.validations.count) purchases, \(identity.subscriptions.count) subscriptions' owners, \(identity.names.count) names"
                        ]
                }
                do {
                    let outcome = try await Operations(store: store).perform(
                        .erase(identity), by: ShellUser.actor, reason: reason)
                    return [
                        "erased: \(outcome.validations) purchases, \(outcome.subscriptions) subscriptions' owners, \(outcome.transfers) transfers, \(outcome.messages) messages, \(outcome.events) events of Cleeng's, \(outcome.billingCustomers) billing customers' details",
                        "copies may tell what they had in memory for another fifteen seconds",
                    ]
                } catch let refusal as Erasure.Refusal {
                    ConfigurationOption.complain("\(refusal)")
                    return nil
                }
            }
            guard let lines else { throw ExitCode(1) }
            for line in lines { print(line) }
        }
    }
}
