import ArgumentParser

/// `relay-load`: the clients that `scripts/bench` needs and that a plain load generator cannot play.
@main
struct RelayLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay-load",
        abstract:
            "The app's side of a benchmark: whole pursuits, and polls held by the thousand; and what verifying costs.",
        discussion: "Driven by scripts/bench. What it measures goes to standard output as JSON, one object a line.",
        subcommands: [PursueCommand.self, HoldCommand.self, VerifyCommand.self])
}
