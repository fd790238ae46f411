import ArgumentParser
import RelayCore
import RelayStore

extension WebhookCommands {
    struct Deliveries: AsyncParsableCommand {
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

        private var wanted: DeliveryState? { DeliveryState.allCases.first { $0.name == state } }

        func validate() throws {
            guard state == nil || wanted != nil else {
                let names = DeliveryState.allCases.map(\.name).joined(separator: ", ")
                throw ValidationError("--state is one of \(names)")
            }
            if let endpoint { _ = try WebhookCommands.endpointID(endpoint) }
            try page.check { ValidationCursor($0) != nil }
        }

        func run() async throws {
            let filter = DeliveryFilter(
                state: wanted, endpoint: endpoint.flatMap { EndpointID($0) }, applicationUsername: username,
                limit: page.limit, cursor: page.cursor.flatMap { ValidationCursor($0) })
            let (items, next) = try await DatabaseSession.run(option) {
                try await $0.deliveries(matching: filter, in: .all)
            }
            try page.write(
                items, next: next, columns: ["MESSAGE", "MADE", "STATE", "TRIES", "ANSWER", "CUSTOMER", "URL"],
                row: { one in
                    [
                        "\(one.id)", one.createdAt.rfc3339, one.state.name, "\(one.tries)",
                        one.lastError ?? one.lastStatus.map { "HTTP \($0)" } ?? "-", one.applicationUsername.text,
                        one.url,
                    ]
                },
                json: { one in
                    [
                        "id": "\(one.id)", "createdAt": one.createdAt.rfc3339, "state": one.state.name,
                        "tries": "\(one.tries)", "lastStatus": one.lastStatus.map { "\($0)" },
                        "lastError": one.lastError, "applicationUsername": one.applicationUsername.text,
                        "publisher": one.publisher.text, "endpoint": one.endpoint, "url": one.url,
                        "nextTryAt": one.nextTryAt?.rfc3339, "finishedAt": one.finishedAt?.rfc3339,
                    ]
                })
        }
    }
}
