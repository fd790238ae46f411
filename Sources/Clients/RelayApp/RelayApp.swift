import ArgumentParser

/// An app in a terminal: does with ``RelayClient`` what an app does.
@main
struct RelayApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay-app",
        abstract: "Plays an app that sells subscriptions and asks the relay what they opened.",
        subcommands: [PurchaseCommand.self])
}
