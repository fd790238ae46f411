import ArgumentParser
import Relay
import RelayCore

struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Cleeng's events, and what came of each.", subcommands: [List.self, Replay.self],
        defaultSubcommand: List.self)

    struct List: ListCommand {
        static let configuration = CommandConfiguration(abstract: "Lists events, newest first.")

        @Option(help: "Only those that are pending, handled or parked.")
        var status: String?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        static let columns = OpsEvent.columns(
            "id", "receivedAt", "topic", "status", "attempts", "outcome", "lastError")

        func reader() throws -> PageReader<OpsEvent, ValidationCursor> {
            let filter = EventFilter(
                status: try choice("--status", status, \.rawValue), limit: page.limit,
                cursor: try page.cursor { ValidationCursor($0) })
            return { try await $0.ops.events(matching: filter, in: .all) }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Has an event processed once more, parked or not.")

        @Argument(help: "The event's id, as `events list` shows it.")
        var id: String

        @OptionGroup var reason: ReasonOption
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            guard let id = NotificationID(id) else { throw ActRefusal.unknown(.event) }
            try await DatabaseSession.perform(.replay(event: id), option, reason: reason.text)
            print("it is processed once more")
        }
    }
}
