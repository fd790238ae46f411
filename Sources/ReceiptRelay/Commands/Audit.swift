import ArgumentParser
import Relay

struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Who did what by hand: at the console, by the ops API, by commands.", subcommands: [List.self],
        defaultSubcommand: List.self)

    struct List: ListCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the audit log, newest first.")

        @Option(help: "Only this: \(AuditEntry.Action.allCases.map(\.rawValue).joined(separator: ", ")).")
        var action: String?

        @Option(help: "Only whose name has this in it.")
        var actor: String?

        @Option(help: "Only what was done to exactly this.")
        var target: String?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        static let columns = AuditRecord.columns("at", "actor", "action", "target", "reason")

        func reader() throws -> PageReader<AuditRecord, AuditCursor> {
            let filter = AuditFilter(
                action: try choice("--action", action, \.rawValue), actor: actor, target: target, limit: page.limit,
                cursor: try page.cursor { AuditCursor($0) })
            return { try await $0.audit.list(matching: filter, in: .all) }
        }
    }
}
