import ArgumentParser
import Foundation

@main
struct ReceiptRelayCommand: AsyncParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "receipt-relay",
        abstract: "Relays App Store purchases to Cleeng, and tells the app whether access was granted.",
        discussion: """
            Settings are environment variables named RELAY_…, or a YAML or JSON file given by --config; the environment wins.
            `receipt-relay settings` lists them all.
            """,
        version: version,
        subcommands: [
            Serve.self, Status.self, Validations.self, Customers.self, Transfers.self, Subscriptions.self,
            Notifications.self, Events.self, WebhookCommands.self, Audit.self, Keys.self, Publishers.self, Offers.self,
            Retention.self, Encryption.self,
            Migrate.self, Settings.self, Healthcheck.self,
        ])

    static func main() async {
        do {
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await run(&command)
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error)
        }
    }

    /// ArgumentParser prints the root's usage for a ``ValidationError`` of a command that runs already.
    private static func run(_ command: inout any AsyncParsableCommand) async throws {
        do {
            try await command.run()
        } catch let error as ValidationError {
            let usage = usageString(for: type(of: command))
            FileHandle.standardError.write(Data("Error: \(error.message)\nUsage: \(usage)\n".utf8))
            throw ExitCode.validationFailure
        }
    }
}
