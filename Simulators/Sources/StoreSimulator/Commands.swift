import ArgumentParser
import CryptoExtras
import Foundation
import SimulatorKit

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

/// Options of every simulated store.
struct ServeOptions: ParsableArguments {
    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 picks a free one and shows it in the start line.")
    var port = 8092

    @Option(help: "How many requests /control/requests remembers.")
    var keepRequests = 10_000

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
        guard (1...100_000).contains(keepRequests) else { throw ValidationError("--keep-requests is 1 to 100000") }
    }

    func serve(_ store: some SimulatedStore, as name: String) async throws {
        let front = StoreFront(store, keepRequests: keepRequests)
        try await SimulatorServer(LockedService(front), host: host, port: port).run(as: name)
    }
}

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
        let issuer = try TokenIssuer(keyFile: serviceAccount, tokenLife: tokenLife)
        try await options.serve(SimulatedGoogle(issuer: issuer), as: "store-simulator google")
    }
}

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
        try await options.serve(SimulatedAmazon(secret: sharedSecret), as: "store-simulator amazon")
    }
}

/// `store-simulator google create-service-account --out FILE`
struct CreateServiceAccount: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create-service-account",
        abstract: "Makes the key file of a service account, as Google Cloud gives it out.")

    @Option(help: "Where it is written, such as service-account.json; a file that is there already stays.")
    var out: String

    @Option(help: "Where its tokens are had: the simulator's address and /token.")
    var tokenURI = "http://127.0.0.1:8092/token"

    func validate() throws {
        guard let url = URL(string: tokenURI), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false
        else { throw ValidationError("--token-uri is an http or https URL") }
    }

    func run() throws {
        // A key that is in use is not to be lost by a slip of the pen.
        guard !FileManager.default.fileExists(atPath: out) else { throw ValidationError("\(out) is there already") }
        let file = try ServiceAccountFile.made(tokenURI: tokenURI).json()
        guard FileManager.default.createFile(atPath: out, contents: file, attributes: [.posixPermissions: 0o600]) else {
            throw ValidationError("\(out) cannot be written")
        }
    }
}
