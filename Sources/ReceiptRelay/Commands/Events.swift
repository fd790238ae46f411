import ArgumentParser
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
            let (items, next) = try await DatabaseSession.run(option) {
                try await $0.events(matching: filter, in: .all)
            }
            try page.write(
                items, next: next, columns: ["EVENT", "RECEIVED", "TOPIC", "STATUS", "TRIES", "OUTCOME", "LAST ERROR"],
                row: { one in
                    [
                        "\(one.id)", one.receivedAt.rfc3339, one.topic, one.status.rawValue, "\(one.attempts)",
                        one.outcome ?? "-", one.lastError ?? "-",
                    ]
                },
                json: { one in
                    [
                        "id": "\(one.id)", "receivedAt": one.receivedAt.rfc3339, "topic": one.topic,
                        "account": one.account?.text, "status": one.status.rawValue, "attempts": "\(one.attempts)",
                        "outcome": one.outcome, "lastError": one.lastError, "parkedAt": one.parkedAt?.rfc3339,
                        "nextTryAt": one.nextTryAt?.rfc3339,
                    ]
                })
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
            let (id, reason) = (NotificationID(id), reason.trimmingSpace())
            let isKnown = try await DatabaseSession.run(option) { store in
                guard let id else { return false }
                return try await store.replayEvent(id, in: .all, by: ShellUser.name, reason: reason)
            }
            guard isKnown else {
                ConfigurationOption.complain("there is no event with that id; `receipt-relay events list` shows them")
                throw ExitCode(1)
            }
            print("it is processed once more")
        }
    }
}
