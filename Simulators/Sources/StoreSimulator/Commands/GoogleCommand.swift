import ArgumentParser
import Foundation

/// `store-simulator google`
struct GoogleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "google", abstract: "Plays Google's token endpoint and the Play Developer API.",
        subcommands: [GoogleServe.self, CreateServiceAccount.self], defaultSubcommand: GoogleServe.self)
}

/// `store-simulator google [serve] --service-account FILE`
struct GoogleServe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Answers for tokens and for purchases.")

    @Option(help: "The key file that it knows: what create-service-account has made.")
    var serviceAccount: String

    @Option(help: "How long an access token is good for, in seconds.")
    var tokenLife = 3_599

    @OptionGroup var options: ServeOptions

    func validate() throws {
        guard (1...86_400).contains(tokenLife) else { throw ValidationError("--token-life is 1 to 86400") }
    }

    func run() async throws {
        let office = try TokenOffice(keyFile: serviceAccount, tokenLife: tokenLife)
        try await StoreService.run(SimulatedGoogle(office: office), options, name: "google")
    }
}
