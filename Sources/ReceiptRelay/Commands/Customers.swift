import ArgumentParser
import RelayCore
import RelayStore

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
                    try await store.validations(matching: ValidationFilter(customer: customer, limit: limit), in: .all)
                        .items,
                    try await store.subscriptions(
                        matching: SubscriptionFilter(customer: customer, limit: limit), in: .all
                    ).items,
                    try await store.transfers(
                        originalTransactionID: nil, customer: customer, limit: limit, cursor: nil, in: .all
                    ).items
                )
            }
            guard !(bought.isEmpty && owned.isEmpty && moved.isEmpty) else {
                ConfigurationOption.complain("nothing is known of that customer")
                throw ExitCode(1)
            }
            guard !json else {
                return try JSONOutput.write(
                    CustomerOutput(
                        validations: bought.map(ListedValidationOutput.init),
                        subscriptions: owned.map(SubscriptionOutput.init),
                        transfers: moved.map(TransferOutput.init)))
            }
            print(Hue.bold.around("Purchases"))
            Table(columns: ["VALIDATION", "STATUS", "ACCEPTED", "OFFER", "REASON"]).write(
                bought.map { line in
                    let one = line.validation
                    return [
                        "\(one.id)", one.status.name + (one.late ? " (late)" : ""), one.acceptedAt.rfc3339,
                        one.offerID.text,
                        line.parking.map { "parked: \($0.reason)" } ?? one.reason ?? "-",
                    ]
                })
            print("\n" + Hue.bold.around("Subscriptions"))
            Table(columns: ["ORIGINAL TRANSACTION", "STATUS", "PRODUCT", "UNTIL", "ENVIRONMENT", "PUBLISHER"]).write(
                owned.map { one in
                    [
                        one.name.originalTransactionID.text, one.status?.name ?? "-", one.productID?.text ?? "-",
                        one.expiresAt?.rfc3339 ?? "-", one.name.environment.text, one.name.publisher.text,
                    ]
                })
            print("\n" + Hue.bold.around("Transfers"))
            Table(columns: Transfers.columns).write(moved.map(Transfers.row))
        }
    }
}

private struct CustomerOutput: Encodable {
    var validations: [ListedValidationOutput]
    var subscriptions: [SubscriptionOutput]
    var transfers: [TransferOutput]
}

struct SubscriptionOutput: Encodable {
    var originalTransactionId: TransactionID
    var environment: StoreEnvironment
    var publisher: PublisherID
    var status: String?
    var productId: ProductID?
    var expiresAt: String?
    var willRenew: Bool?

    init(_ one: OpsSubscription) {
        originalTransactionId = one.name.originalTransactionID
        environment = one.name.environment
        publisher = one.name.publisher
        status = one.status?.name
        productId = one.productID
        expiresAt = one.expiresAt?.rfc3339
        willRenew = one.willRenew
    }
}

struct TransferOutput: Encodable {
    var at: String
    var originalTransactionId: TransactionID
    var from: CustomerID
    var to: CustomerID
    var fromValidationId: String
    var toValidationId: String

    init(_ one: OpsTransfer) {
        at = one.at.rfc3339
        originalTransactionId = one.name.originalTransactionID
        from = one.from
        to = one.to
        fromValidationId = "\(one.fromValidation)"
        toValidationId = "\(one.toValidation)"
    }
}
