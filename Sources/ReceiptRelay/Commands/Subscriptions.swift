import ArgumentParser
import RelayCore
import RelayStore

struct Subscriptions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Subscriptions as the ledger has them.", subcommands: [List.self, Replay.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists subscriptions.")

        @Option(help: "Only this one, in every environment.")
        var originalTransactionId: TransactionID?

        @Flag(help: "Only those that are parked, with the reason.")
        var parked = false

        @Option(
            help: "Only those whose granted access may be wrong, in this way.",
            transform: { name in
                guard let problem = AccessProblem.allCases.first(where: { $0.name == name }) else {
                    throw ValidationError("it is one of \(AccessProblem.allCases.map(\.name).joined(separator: ", "))")
                }
                return problem
            })
        var problem: AccessProblem?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            try page.check { SubscriptionCursor($0) != nil }
            guard problem == nil || !parked && originalTransactionId == nil else {
                throw ValidationError("--problem stands alone")
            }
        }

        func run() async throws {
            let filter = SubscriptionFilter(
                originalTransactionID: originalTransactionId, isParked: parked, limit: page.limit,
                cursor: page.cursor.flatMap { SubscriptionCursor($0) })
            let (items, next) = try await DatabaseSession.run(option) {
                guard let problem else { return try await $0.subscriptions(matching: filter, in: .all) }
                return try await $0.accessProblems(problem, limit: filter.limit, cursor: filter.cursor, in: .all)
            }
            try page.write(
                items, next: next,
                columns: [
                    "ORIGINAL TRANSACTION", "ENVIRONMENT", "PUBLISHER", "STATUS", "CUSTOMER", "PARKED", "TROUBLE", "ID",
                ],
                row: { one in
                    [
                        one.name.originalTransactionID.text, one.name.environment.text, one.name.publisher.text,
                        one.status?.name ?? "-", one.email?.text ?? "-", one.parkedAt?.rfc3339 ?? "-",
                        one.trouble ?? "-",
                        "\(SubscriptionCursor(one.name))",
                    ]
                },
                json: { one in
                    [
                        "id": "\(SubscriptionCursor(one.name))",
                        "originalTransactionId": one.name.originalTransactionID.text,
                        "environment": one.name.environment.text,
                        "publisher": one.name.publisher.text, "status": one.status?.name,
                        "customerEmail": one.email?.text,
                        "offerId": one.offerID?.text, "expiresAt": one.expiresAt?.rfc3339,
                        "nextLookAt": one.dueAt?.rfc3339, "trouble": one.trouble, "parkedAt": one.parkedAt?.rfc3339,
                    ]
                })
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Has a subscription looked at now, parked or not: the store or Cleeng is asked where it has to be.")

        @Argument(help: "The subscription's id, as `subscriptions list` shows it.")
        var id: String

        @Option(help: "Why; it is recorded.")
        var reason: String

        @OptionGroup var option: ConfigurationOption

        func validate() throws { try Validations.check(reason: reason) }

        func run() async throws {
            let (name, reason) = (SubscriptionCursor(id)?.name, reason.trimmingSpace())
            let isKnown = try await DatabaseSession.run(option) { store in
                guard let name else { return false }
                return try await store.replaySubscription(name, in: .all, by: ShellUser.name, reason: reason)
            }
            guard isKnown else {
                ConfigurationOption.complain(
                    "there is no subscription with that id; `receipt-relay subscriptions list` shows them")
                throw ExitCode(1)
            }
            print("it is looked at now")
        }
    }
}
