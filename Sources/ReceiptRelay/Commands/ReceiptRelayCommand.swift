import ArgumentParser
import Foundation
import RelayCore

@main
struct ReceiptRelayCommand: AsyncParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "receipt-relay",
        abstract: """
            Relays purchases of the App Store and \(StorePlatform.asked.map(\.title).joined(separator: ", ")) to Cleeng, and tells the app whether access was granted.
            """,
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
            let type = type(of: command)
            guard var command = command as? any AsyncParsableCommand else { return try command.run() }
            do {
                try await command.run()
            } catch let error as ValidationError {
                // For an error of a running command, ArgumentParser would print the usage of the root command.
                let lines = "Error: \(error.message)\nUsage: \(usageString(for: type))\n"
                FileHandle.standardError.write(Data(lines.utf8))
                throw ExitCode.validationFailure
            }
        } catch {
            guard let failure = Failure(error) else { exit(withError: error) }
            failure.complain()
            exit(withError: ExitCode(failure.code))
        }
    }
}
