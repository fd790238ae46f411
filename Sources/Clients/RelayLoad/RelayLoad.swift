import ArgumentParser

/// `relay-load`: clients and receivers for `scripts/bench` that a general load generator cannot provide.
@main
struct RelayLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay-load",
        abstract:
            "The other sides of a benchmark: whole pursuits, polls held by the thousand, webhook endpoints; and what verifying costs.",
        discussion: "Driven by scripts/bench. What it measures goes to standard output as JSON, one object a line.",
        subcommands: [PursueCommand.self, HoldCommand.self, ReceiveCommand.self, VerifyCommand.self])
}
