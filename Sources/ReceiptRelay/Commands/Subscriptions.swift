import ArgumentParser
import Relay
import RelayCore

struct Subscriptions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Subscriptions as the ledger has them.", subcommands: [List.self, Refunds.self, Replay.self],
        defaultSubcommand: List.self)

    struct List: ListCommand {
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

        static let columns = OpsSubscription.columns(
            "originalTransactionId", "environment", "publisher", "status", "customerEmail", "parkedAt", "trouble", "id")

        func reader() throws -> PageReader<OpsSubscription, SubscriptionCursor> {
            let filter = SubscriptionFilter(
                originalTransactionID: originalTransactionId, isParked: parked, limit: page.limit,
                cursor: try page.cursor { SubscriptionCursor($0) })
            guard let problem else { return { try await $0.ops.subscriptions(matching: filter, in: .all) } }
            guard !parked, originalTransactionId == nil else { throw ValidationError("--problem stands alone") }
            return { try await $0.ops.accessProblems(problem, limit: filter.limit, cursor: filter.cursor, in: .all) }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Has a subscription looked at now, parked or not: the store or Cleeng is asked where it has to be.")

        @Argument(help: "The subscription's id, as `subscriptions list` shows it.")
        var id: String

        @OptionGroup var reason: ReasonOption
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            guard let name = SubscriptionCursor(id)?.name else {
                throw ActRefusal.unknown(.subscription)
            }
            try await DatabaseSession.perform(.replay(subscription: name), option, reason: reason.text)
            print("it is looked at now")
        }
    }
}
