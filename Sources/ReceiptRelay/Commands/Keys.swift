import ArgumentParser
import Foundation
import RelayCore
import RelayStore

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

        /// A mistyped name must not make another publisher.
        private func checkPublisher(_ store: RelayStore) async throws {
            guard !isOfAll, PublisherID(publisher) != PublisherID.first else { return }
            let known = try await store.listPublishers(in: .all).map(\.id)
            guard !known.contains(PublisherID(publisher)) else { return }
            let list = known.isEmpty ? "there are none yet" : "known are \(known.map(\.text).joined(separator: ", "))"
            ConfigurationOption.complain(
                "there is no publisher \(publisher): \(list); `receipt-relay publishers add \(publisher)` adds it")
            throw ExitCode(1)
        }

        func run() async throws {
            guard let role = KeyRole(name: role) else { return }
            let key = try await DatabaseSession.run(option) { store in
                try await checkPublisher(store)
                var generator = SystemRandomNumberGenerator()
                let key = try await store.createKey(
                    role: role, name: name, publisher: isOfAll ? PublisherID.first : PublisherID(publisher),
                    app: app ?? "", seesAllPublishers: isOfAll, using: &generator)
                let id = APIKey.id(in: key) ?? ""
                try await store.note(
                    .keyCreated, id.text, of: isOfAll ? nil : PublisherID(publisher),
                    reason: "\(role.name) of \(publisher): \(name)")
                return key
            }
            print(key)
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
            let keys = try await DatabaseSession.run(option) { try await $0.keys(includingRevoked: all, in: .all) }
            guard !json else {
                return try JSONOutput.write(
                    keys.map { key in
                        [
                            "id": key.id.text, "role": key.role.name, "name": key.name, "publisher": key.scopeText,
                            "app": key.app.isEmpty ? nil : key.app.text, "createdAt": key.createdAt.rfc3339,
                            "revokedAt": key.revokedAt?.rfc3339,
                        ]
                    })
            }
            Table(columns: ["ID", "ROLE", "PUBLISHER", "APP", "CREATED", "REVOKED", "NAME"]).write(
                keys.map { key in
                    [
                        key.id.text, key.role.name, key.scopeText, key.app.isEmpty ? "-" : key.app.text,
                        key.createdAt.rfc3339,
                        key.revokedAt?.rfc3339 ?? "-", key.name,
                    ]
                })
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Takes a key out of use; running copies notice within two seconds.")

        @Argument(help: "The key's id, as `keys list` shows it.")
        var id: String

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let isRevoked = try await DatabaseSession.run(option) { store in
                guard let publisher = try await store.revokeKey(APIKeyID(id), in: .all) else { return false }
                try await store.note(.keyRevoked, id, of: publisher)
                return true
            }
            guard isRevoked else {
                ConfigurationOption.complain("there is no key with that id; `receipt-relay keys list` shows them")
                throw ExitCode(1)
            }
            print("revoked \(id)")
        }
    }
}

extension String {
    var hasControlCharacters: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
