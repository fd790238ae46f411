import ArgumentParser
import Operations
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
                limit: page.limit, cursor: page.cursor.flatMap { AuditCursor($0) })
            try page.write(
                try await DatabaseSession.run(option) { try await $0.auditLog(matching: filter, in: .all) },
                columns: AuditRecord.columns("at", "actor", "action", "target", "reason"))
        }
    }
}
