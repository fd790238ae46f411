import ArgumentParser

/// `store-simulator amazon`
struct AmazonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "amazon", abstract: "Plays Amazon's Receipt Verification Service.",
        subcommands: [AmazonServe.self], defaultSubcommand: AmazonServe.self)
}

/// `store-simulator amazon [serve] --shared-secret SECRET`
struct AmazonServe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve", abstract: "Answers for receipts.")

    @Option(help: "The shared secret that it takes; under /sandbox it takes any.")
    var sharedSecret: String

    @OptionGroup var options: ServeOptions

    func validate() throws {
        guard !sharedSecret.isEmpty else { throw ValidationError("--shared-secret is empty") }
    }

    func run() async throws {
        try await StoreService.run(SimulatedAmazon(secret: sharedSecret), options, name: "amazon")
    }
}
