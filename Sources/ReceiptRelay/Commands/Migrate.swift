import ArgumentParser
import Relay
import RelayCore

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings the database's schema up to date, or says how it stands.",
        subcommands: [Up.self, Status.self], defaultSubcommand: Up.self)

    struct Up: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Applies the migrations that are missing. Safe to run again, and to run twice at once.")

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            try await DatabaseSession.run(option, opensVault: false) { store in
                try await store.schema.migrate { print("applied \($0.name)") }
                let missing = try await store.schema.missingTables()
                guard missing.isEmpty else { throw DamagedSchema(missing) }
                try await store.retention.makePartitions()
                print("the schema is up to date")
            }
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the migrations; exits 1 where one, or a table that one has made, is missing.")

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let (status, missing) = try await DatabaseSession.run(option, opensVault: false) { store in
                (try await store.schema.status(), try await store.schema.missingTables())
            }
            for (migration, appliedAt) in status {
                print("\(migration.name)  \(appliedAt.map { "applied \($0.rfc3339)" } ?? "missing")")
            }
            if !missing.isEmpty { Failure.complain("\(DamagedSchema(missing))") }
            if !missing.isEmpty || status.contains(where: { $0.appliedAt == nil }) { throw ExitCode(1) }
        }
    }
}
