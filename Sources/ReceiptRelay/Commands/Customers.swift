import ArgumentParser
import Formats
import Relay
import RelayCore

struct Customers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Everything of one customer.", subcommands: [Show.self, Refresh.self, Export.self, Erase.self])

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a customer's purchases, subscriptions and transfers, newest first.",
            discussion: "Exits 1 where nothing is known of them.")

        @Argument(help: "The email, without regard to case.")
        var email: String

        @Option(help: "How many of each, 1 to 1000.")
        var limit = 20

        @Flag(help: "As JSON.")
        var json = false

        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            guard (1...1_000).contains(limit) else { throw ValidationError("--limit is 1 to 1000") }
        }

        func run() async throws {
            let customer = CustomerEmail(email)?.customer ?? CustomerID(email.trimmingSpace().asciiLowercased())
            let limit = limit
            let (bought, owned, moved) = try await DatabaseSession.run(option) { store in
                (
                    try await store.ops.validations(
                        matching: ValidationFilter(customer: customer, limit: limit), in: .all
                    )
                    .items,
                    try await store.ops.subscriptions(
                        matching: SubscriptionFilter(customer: customer, limit: limit), in: .all
                    ).items,
                    try await store.ops.transfers(
                        matching: TransferFilter(customer: customer, limit: limit), in: .all
                    ).items
                )
            }
            guard !(bought.isEmpty && owned.isEmpty && moved.isEmpty) else {
                throw Failure("nothing is known of that customer")
            }
            guard !json else {
                return try JSONOutput.write { writer in
                    writer.beginObject()
                    writer.array("validations", bought)
                    writer.array("subscriptions", owned)
                    writer.array("transfers", moved)
                    writer.endObject()
                }
            }
            print(Hue.bold.around("Purchases"))
            TextTable.write(
                bought, ListedValidation.columns("validationId", "status", "receivedAt", "offerId", "parked"))
            print("\n" + Hue.bold.around("Subscriptions"))
            TextTable.write(
                owned,
                OpsSubscription.columns(
                    "originalTransactionId", "status", "productId", "expiresAt", "environment", "publisher"),
                labels: ["expiresAt": "Until"])
            print("\n" + Hue.bold.around("Transfers"))
            TextTable.write(moved, Transfers.List.columns)
        }
    }
}
