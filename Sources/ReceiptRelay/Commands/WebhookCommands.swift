import ArgumentParser
import Relay
import RelayCore
import Webhooks

struct WebhookCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Endpoints that notify publishers' back ends of changes, tests and repeats.",
        subcommands: [
            Add.self, List.self, Remove.self, Enable.self, Disable.self, Test.self, Deliveries.self, Replay.self,
            Resync.self,
        ], defaultSubcommand: List.self)

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Adds an endpoint and prints its id, and nothing else.",
            discussion:
                "It receives each change from then on. Use https: what is sent by http can be read on the way.")

        @Option(help: "An http or https URL.")
        var url: String

        @Option(help: "Environment whose purchases it receives: production, sandbox or all.")
        var environment = WebhookEnvironment.all.name

        @Option(help: "The publisher whose customers' changes it receives.")
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
            let requiresTLS = try option.settings().requiresTLS()
            guard !requiresTLS || WebhookURL(url)?.isSecure == true else {
                throw Failure("--url must be https, since \(Setting.requireTLS.name) is true")
            }
            let id = try await DatabaseSession.perform(
                .addEndpoint(url: url, of: PublisherID(publisher), environment: environment), option)
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
            let endpoints = try await DatabaseSession.run(option) { try await $0.webhooks.endpoints(in: .all) }
                .filter { publisher == nil || $0.publisher == publisher }
            guard !json else { return try JSONOutput.write(endpoints) }
            TextTable.write(
                endpoints,
                WebhookEndpoint.columns(
                    "id", "state", "environment", "publisher", "lastSuccessAt", "failingSince", "url"))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes an endpoint; what waits for it is dropped.")

        @OptionGroup var endpoint: EndpointArgument
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let id = try WebhookCommands.endpointID(endpoint.id)
            let removed = try await DatabaseSession.perform(.remove(id), option)
            print("removed \(id)")
            if removed.isFromSettings {
                Failure.complain(
                    "it stands in \(Setting.webhookURLs.name), and is added again at the next start unless it goes there too"
                )
            }
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lets an endpoint that was disabled take messages again.",
            discussion:
                "What was dropped or changed meanwhile is not sent: `webhooks replay --since` tells it the present state of those."
        )

        @OptionGroup var endpoint: EndpointArgument
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let id = try WebhookCommands.endpointID(endpoint.id)
            try await DatabaseSession.perform(.enable(id), option)
            print("enabled \(id)")
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lets an endpoint take no more messages until it is enabled again; what waits for it is dropped.")

        @OptionGroup var endpoint: EndpointArgument
        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let id = try WebhookCommands.endpointID(endpoint.id)
            try await DatabaseSession.perform(.disable(id), option)
            print("disabled \(id)")
        }
    }

    struct Deliveries: ListCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists messages to endpoints, newest first, with what was answered.")

        @Option(help: "waiting, delivered, failed, replaced, dropped or parked.")
        var state: String?

        @Option(help: "Only to this endpoint.")
        var endpoint: String?

        @Option(help: "Only of this customer (applicationUsername).")
        var username: Username?

        @OptionGroup var page: PageOptions
        @OptionGroup var option: ConfigurationOption

        static let columns = OpsDelivery.columns(
            "id", "createdAt", "state", "tries", "lastStatus", "applicationUsername", "url")

        func reader() throws -> PageReader<OpsDelivery, ValidationCursor> {
            let filter = DeliveryFilter(
                state: try choice("--state", state, \.name), endpoint: try endpoint.map(WebhookCommands.endpointID),
                applicationUsername: username, limit: page.limit, cursor: try page.cursor { ValidationCursor($0) })
            return { try await $0.webhooks.deliveries(matching: filter, in: .all) }
        }
    }

    struct EndpointArgument: ParsableArguments {
        @Argument(help: "The endpoint's id, as `webhooks list` shows it.")
        var id: String
    }

    static func endpointID(_ text: String) throws -> EndpointID {
        guard let id = EndpointID(text) else { throw ValidationError("an endpoint's id is 24 hexadecimal digits") }
        return id
    }
}
