import ArgumentParser
import Foundation
import RelayCore
import RelayStore
import Webhooks

struct WebhookCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Where publishers' back ends are told of changes: endpoints, tests and repeats.",
        subcommands: [
            Add.self, List.self, Remove.self, Enable.self, Test.self, Deliveries.self, Replay.self, Resync.self,
        ], defaultSubcommand: List.self)

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Adds an endpoint and prints its id, and nothing else.",
            discussion:
                "It is told of each change from then on. Use https: what is sent by http can be read on the way.")

        @Option(help: "An http or https URL.")
        var url: String

        @Option(help: "Whose purchases it is told of: production, sandbox or all.")
        var environment = WebhookEnvironment.all.name

        @Option(help: "The publisher whose customers it is told of.")
        var publisher = "main"

        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            guard WebhookURL(url) != nil else { throw ValidationError("--url is \(WebhookURL.rule)") }
            guard WebhookEnvironment(name: environment) != nil else {
                throw ValidationError("--environment is production, sandbox or all")
            }
        }

        func run() async throws {
            let (url, publisher) = (url, publisher)
            let environment = WebhookEnvironment(name: environment) ?? .all
            let requiresTLS = try ConfigurationOption.reporting { try option.settings().requiresTLS() }
            guard !requiresTLS || WebhookURL(url)?.isSecure == true else {
                ConfigurationOption.complain("--url must be https, since \(Setting.requireTLS.name) is true")
                throw ExitCode(1)
            }
            let id = try await DatabaseSession.run(option) { store in
                // The first one is there before it has a key.
                if publisher == "main" { try await store.ensureFirstPublisher() }
                let id = try await store.addEndpoint(
                    publisher: PublisherID(publisher), url: url, environment: environment)
                if let id {
                    try await store.note(
                        .endpointAdded, "\(id)", of: PublisherID(publisher), reason: "of \(publisher)")
                }
                return id
            }
            guard let id else {
                ConfigurationOption.complain("there is no publisher named \(publisher)")
                throw ExitCode(1)
            }
            print(id)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the endpoints.")

        @Option(help: "Of this publisher; of all where it is left out.")
        var publisher: PublisherID?

        @Flag(help: "As JSON.")
        var json = false

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let endpoints = try await DatabaseSession.run(option) { try await $0.endpoints(in: .all) }
                .filter { publisher == nil || $0.publisher == publisher }
            guard !json else { return try JSONOutput.write(endpoints.map(EndpointOutput.init)) }
            Table(columns: ["ID", "STATE", "ENVIRONMENT", "PUBLISHER", "LAST SUCCESS", "FAILING SINCE", "URL"]).write(
                endpoints.map { endpoint in
                    [
                        endpoint.id.description,
                        endpoint.isActive ? "active" : "disabled (\(endpoint.disabledReason ?? "?"))",
                        endpoint.environment.name, endpoint.publisher.text, endpoint.lastSuccessAt?.rfc3339 ?? "-",
                        endpoint.failingSince?.rfc3339 ?? "-", endpoint.url,
                    ]
                })
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes an endpoint; what waits for it is dropped.")

        @Argument(help: "The endpoint's id, as `webhooks list` shows it.")
        var id: String

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let id = try WebhookCommands.endpointID(id)
            let removed = try await DatabaseSession.run(option) { store -> WebhookEndpoint? in
                guard let endpoint = try await store.endpoint(id, in: .all), try await store.removeEndpoint(id) else {
                    return nil
                }
                try await store.note(.endpointRemoved, "\(id)", of: endpoint.publisher)
                return endpoint
            }
            guard let removed else { throw WebhookCommands.unknownEndpoint }
            print("removed \(id)")
            if removed.isFromSettings {
                ConfigurationOption.complain(
                    "it stands in \(Setting.webhookURLs.name), and is added again at the next start unless it goes there too"
                )
            }
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lets an endpoint that was disabled take messages again.",
            discussion:
                "What was dropped meanwhile is not sent: `webhooks replay --since` tells it the present state of those."
        )

        @Argument(help: "The endpoint's id, as `webhooks list` shows it.")
        var id: String

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let id = try WebhookCommands.endpointID(id)
            let isEnabled = try await DatabaseSession.run(option) { store in
                guard let publisher = try await store.enableEndpoint(id, in: .all) else { return false }
                try await store.note(.endpointEnabled, "\(id)", of: publisher)
                return true
            }
            guard isEnabled else {
                throw WebhookCommands.unknownEndpoint
            }
            print("enabled \(id)")
        }
    }

    static func endpointID(_ text: String) throws -> EndpointID {
        guard let id = EndpointID(text) else { throw ValidationError("an endpoint's id is 24 hexadecimal digits") }
        return id
    }

    static var unknownEndpoint: ExitCode {
        ConfigurationOption.complain("there is no endpoint with that id; `receipt-relay webhooks list` shows them")
        return ExitCode(1)
    }
}
