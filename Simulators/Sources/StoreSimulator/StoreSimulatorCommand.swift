import ArgumentParser

/// `store-simulator`: plays Google's Play Developer API, or Amazon's Receipt Verification Service.
package struct StoreSimulatorCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "store-simulator",
        abstract: "A stand-in for Google Play and the Amazon Appstore, for tests and demonstrations.",
        discussion: """
            Everything is kept in memory, and told under /control: what was bought, what becomes of it, and what befalls calls.
            SIGTERM ends it.
            """,
        subcommands: [GoogleCommand.self, AmazonCommand.self])

    package init() {}
}
