import ArgumentParser
import RelayCore
import RelayStore

struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Who did what by hand: at the console, by the ops API, by commands.", subcommands: [List.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the audit log, newest first.")

        @Option(help: "Only this: \(AuditEntry.Action.allCases.map(\.rawValue).joined(separator: ", ")).")
        var action: String?

        @Option(help: "Only whose name has this in it.")
        var actor: String?

        @Option(help: "Only what was done to exactly this.")
        var target: String?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            if let action, AuditEntry.Action(rawValue: action) == nil {
                throw ValidationError(
                    "--action is one of \(AuditEntry.Action.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            try page.check { AuditCursor($0) != nil }
        }

        func run() async throws {
            let filter = AuditFilter(
                action: action.flatMap { AuditEntry.Action(rawValue: $0) }, actor: actor, target: target,
                limit: page.limit,
                cursor: page.cursor.flatMap { AuditCursor($0) })
            let (items, next) = try await DatabaseSession.run(option) {
                try await $0.auditLog(matching: filter, in: .all)
            }
            try page.write(
                items, next: next, columns: ["AT", "WHO", "ACTION", "TO WHAT", "WHY"],
                row: { [$0.at.rfc3339, $0.actor, $0.action, $0.target.value, $0.reason?.value ?? "-"] },
                json: {
                    [
                        "at": $0.at.rfc3339, "actor": $0.actor, "action": $0.action, "target": $0.target.value,
                        "reason": $0.reason?.value,
                    ]
                })
        }
    }
}
