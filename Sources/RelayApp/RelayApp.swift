import ArgumentParser

/// Plays an app: what one does with ``RelayClient``, from a terminal.
@main
struct RelayApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay-app",
        abstract: "Plays an app that sells subscriptions and asks the relay what they opened.",
        subcommands: [PurchaseCommand.self])
}
