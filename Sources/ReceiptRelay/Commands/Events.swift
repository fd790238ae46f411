import ArgumentParser
import Operations
import RelayCore
import RelayStore

struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Cleeng's events, and what came of each.", subcommands: [List.self, Replay.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists events, newest first.")

        @Option(help: "Only those that are pending, handled or parked.")
        var status: String?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            guard status.map({ OpsEvent.Status(rawValue: $0) != nil }) ?? true else {
                let names = OpsEvent.Status.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--status is one of \(names)")
            }
            try page.check { ValidationCursor($0) != nil }
        }

        func run() async throws {
            let filter = EventFilter(
                status: status.flatMap { OpsEvent.Status(rawValue: $0) }, limit: page.limit,
                cursor: page.cursor.flatMap { ValidationCursor($0) })
            try page.write(
                try await DatabaseSession.run(option) { try await $0.events(matching: filter, in: .all) },
                columns: OpsEvent.columns(
                    "id", "receivedAt", "topic", "status", "attempts", "outcome", "lastError"))
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Has an event processed once more, parked or not.")

        @Argument(help: "The event's id, as `events list` shows it.")
        var id: String

        @Option(help: "Why; it is recorded.")
        var reason: String

        @OptionGroup var option: ConfigurationOption

        func validate() throws { try Validations.check(reason: reason) }

        func run() async throws {
            guard let id = NotificationID(id) else { throw DatabaseSession.refusal(.unknown(.event)) }
            try await DatabaseSession.perform(.replay(event: id), option, reason: reason.trimmingSpace())
            print("it is processed once more")
        }
    }
}
