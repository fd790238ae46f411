import ArgumentParser

@main
struct ReceiptRelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt-relay",
        abstract: "Relays App Store purchases to Cleeng, and tells the app whether access was granted.",
        discussion: """
            Settings are environment variables named RELAY_…, or a YAML or JSON file given by --config; the environment wins.
            receipt-relay.example.yaml lists them all.
            """,
        version: "0.1.0",
        subcommands: [
            Serve.self, Migrate.self, Keys.self, Validations.self, WebhookCommands.self, Publishers.self,
            Offers.self, Retention.self,
            Healthcheck.self,
        ])
}
