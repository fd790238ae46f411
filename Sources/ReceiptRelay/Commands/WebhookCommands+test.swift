import ArgumentParser
import Relay
import RelayCore
import Webhooks

extension WebhookCommands {
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sends a test message right away and says what was answered.",
            discussion: """
                The body is {"type":"test","password":…}, signed as any other. Without an id all endpoints are tested. An endpoint \
                that was disabled is tested too, and takes messages again where it answers 2xx. Exits 1 where one fails.
                """)

        @Argument(help: "The endpoint's id; all where it is left out.")
        var id: String?

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let wanted = try id.map(WebhookCommands.endpointID)
            let reader = try option.settings()
            let settings = try WebhookSettings(reader)
            let client = settings.client
            let results: [(WebhookEndpoint, WebhookResult)]
            do {
                results = try await DatabaseSession.run(option) { store in
                    try await reader.roster.read(store)
                    return try await Self.test(wanted, store, client, settings.credentials)
                }
            } catch {
                await client.shutDown()
                throw error
            }
            await client.shutDown()
            if results.isEmpty {
                guard wanted == nil else { throw ActRefusal.unknown(.endpoint) }
                print("there are no endpoints")
            }
            let isUnsigned = results.contains { settings.credentials[$0.0.publisher]?.signs == false }
            if isUnsigned {
                Failure.complain(
                    "\(Setting.webhookSecrets.name) is not set for this command: the message was not signed, and the receiver's check of signatures was not tested"
                )
            }
            for (endpoint, result) in results {
                print("\(endpoint.id)  \(result.line)  \(endpoint.url)")
            }
            if results.contains(where: { $0.1.verdict != .delivered }) { throw ExitCode(1) }
        }

        private static let atOnce = 16

        private static func test(
            _ id: EndpointID?, _ store: RelayStore, _ client: WebhookClient,
            _ credentials: PerPublisher<WebhookCredentials>
        ) async throws -> [(WebhookEndpoint, WebhookResult)] {
            let endpoints = try await store.webhooks.endpoints(in: .all).filter { id == nil || $0.id == id }
            let operations = Operations(store: store)
            return try await withThrowingTaskGroup(of: (Int, WebhookResult).self) { group in
                var results: [(Int, WebhookResult)] = []
                for (index, endpoint) in endpoints.enumerated() {
                    if index >= atOnce, let ended = try await group.next() { results.append(ended) }
                    guard let own = credentials[endpoint.publisher] else {
                        let why = "\(Setting.publishersFile.name) of this command lacks publisher \(endpoint.publisher)"
                        results.append((index, WebhookResult(.failed, error: why)))
                        continue
                    }
                    group.addTask {
                        (index, try await operations.perform(.test(endpoint, client, own), by: ShellUser.actor))
                    }
                }
                for try await ended in group { results.append(ended) }
                return results.sorted { $0.0 < $1.0 }.map { (endpoints[$0.0], $0.1) }
            }
        }
    }
}

extension WebhookResult {
    /// The result as text for people.
    fileprivate var line: String {
        let answer = status.map { "HTTP \($0)" } ?? "no answer"
        guard verdict != .delivered else { return "\(answer)  ok" }
        let why = error.flatMap { $0 == answer ? nil : ": \($0)" } ?? ""
        return "\(answer)  failed\(why)"
    }
}
