import ArgumentParser
import Formats
import Relay
import RelayCore

struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes, lists and revokes API keys.", subcommands: [Create.self, List.self, Revoke.self],
        defaultSubcommand: List.self)

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a key and prints it, and nothing else; it cannot be read again.")

        @Option(help: "app, publisher, ops-viewer or ops-operator.")
        var role: String

        @Option(help: "What it is for, as lists and the timeline show it.")
        var name: String

        @Option(
            help: """
                The publisher it belongs to, as `publishers list` names it; main is made when new. An ops key sees and acts on its \
                publisher's rows alone: all, said explicitly, is every publisher's.
                """)
        var publisher = "main"

        @Option(help: "The bundle id of the app that it ships in.")
        var app: BundleID?

        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            guard KeyRole(name: role) != nil else {
                throw ValidationError("--role is app, publisher, ops-viewer or ops-operator")
            }
            guard !name.trimmingSpace().isEmpty, name.utf8.count <= 100, !name.hasControlCharacters else {
                throw ValidationError("--name is 1 to 100 characters")
            }
            guard PublisherID.isValid(publisher) else {
                throw ValidationError("--publisher is \(PublisherID.rule)")
            }
            guard !isOfAll || KeyRole(name: role)?.opens(.opsViewer) == true else {
                throw ValidationError("--publisher all is for ops-viewer and ops-operator")
            }
            guard app.map({ !$0.isEmpty && $0.utf8.count <= 255 && !$0.text.hasControlCharacters }) ?? true else {
                throw ValidationError("--app is a bundle id of at most 255 characters")
            }
        }

        private var isOfAll: Bool { publisher == APIKey.allPublishers }

        func run() async throws {
            guard let role = KeyRole(name: role) else { return }
            print(
                try await DatabaseSession.perform(
                    .createKey(role, name: name, of: isOfAll ? nil : PublisherID(publisher), app: app),
                    option))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the keys, never the secrets.")

        @Flag(help: "Revoked ones too.")
        var all = false

        @Flag(help: "As JSON.")
        var json = false

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let keys = try await DatabaseSession.run(option) { try await $0.keys.list(includingRevoked: all, in: .all) }
            guard !json else { return try JSONOutput.write(keys) }
            TextTable.write(
                keys, APIKey.columns("id", "role", "publisher", "app", "createdAt", "revokedAt", "name"))
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Takes a key out of use; running copies notice within two seconds.")

        @Argument(help: "The key's id, as `keys list` shows it.")
        var id: String

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let wasInUse = try await DatabaseSession.perform(.revoke(APIKeyID(id)), option)
            print(wasInUse ? "revoked \(id)" : "\(id) is revoked already")
        }
    }
}

extension String {
    var hasControlCharacters: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
