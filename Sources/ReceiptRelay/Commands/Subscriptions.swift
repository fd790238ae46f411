import ArgumentParser
import Operations
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
            let found = try await DatabaseSession.run(option) {
                guard let problem else { return try await $0.subscriptions(matching: filter, in: .all) }
                return try await $0.accessProblems(problem, limit: filter.limit, cursor: filter.cursor, in: .all)
            }
            try page.write(
                found,
                columns: OpsSubscription.columns(
                    "originalTransactionId", "environment", "publisher", "status", "customerEmail", "parkedAt",
                    "trouble", "id"))
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
            guard let name = SubscriptionCursor(id)?.name else {
                throw DatabaseSession.refusal(.unknown(.subscription))
            }
            try await DatabaseSession.perform(.replay(subscription: name), option, reason: reason.trimmingSpace())
            print("it is looked at now")
        }
    }
}
