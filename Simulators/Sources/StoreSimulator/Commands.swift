import ArgumentParser
import CryptoExtras
import Foundation
import ServiceLifecycle
import SimulatorKit

/// `store-simulator`: simulates Google's Play Developer API, Amazon's Receipt Verification Service, or Roku Pay.
package struct StoreSimulatorCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "store-simulator",
        abstract: "A stand-in for Google Play, the Amazon Appstore and Roku Pay, for tests and demonstrations.",
        discussion: """
            Everything is kept in memory, and set under /control: purchases, their later states, and failures of calls.
            SIGTERM ends it.
            """,
        subcommands: [GoogleCommand.self, AmazonCommand.self, RokuCommand.self])

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

    /// - Parameters:
    ///   - afterCall: called after every call.
    ///   - onReady: called with the address, such as `http://127.0.0.1:8092`.
    ///   - background: tasks beside the server.
    func serve<Store>(
        _ store: Store, as name: String, afterCall: @escaping @Sendable () -> Void = {},
        onReady: @escaping @Sendable (LockedService<StoreFront<Store>>, String) -> Void = { _, _ in },
        background: (LockedService<StoreFront<Store>>) -> [any Service] = { _ in [] }
    ) async throws {
        let service = LockedService(StoreFront(store, keepRequests: keepRequests), afterCall: afterCall)
        try await SimulatorServer(service, host: host, port: port, background: background(service)).run(as: name) {
            onReady(service, $0)
        }
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

    @OptionGroup(title: "Real-time developer notifications") var push: PushOptions

    @OptionGroup var options: ServeOptions

    func validate() throws {
        guard (1...86_400).contains(tokenLife) else { throw ValidationError("--token-life is 1 to 86400") }
    }

    func run() async throws {
        let google = SimulatedGoogle(
            issuer: try TokenIssuer(keyFile: serviceAccount, tokenLife: tokenLife),
            pubSub: SimulatedPubSub(
                key: PushKey(), settings: try push.settings(), keepMessages: options.keepRequests))
        let signal = PushSignal()
        try await options.serve(
            google, as: "store-simulator google", afterCall: signal.send,
            background: { service in
                [PushService(store: service, publisher: \.pubSub, signal: signal)]
            })
    }
}

/// Initial address for notifications; `PUT /control/push` changes it.
struct PushOptions: ParsableArguments {
    @Option(help: "The address that notifications are pushed to, such as http://127.0.0.1:8080/google/notifications.")
    var pushURL: String?

    @Option(help: "The audience of a push token; the address if it is left out.")
    var pushAudience: String?

    @Option(help: "The service account of a push token; push@example.iam.gserviceaccount.com if it is left out.")
    var pushEmail: String?

    func validate() throws { _ = try settings() }

    func settings() throws -> PushSettings? {
        guard let pushURL else {
            guard pushAudience == nil, pushEmail == nil else {
                throw ValidationError("--push-audience and --push-email need --push-url")
            }
            return nil
        }
        do throws(ControlFault) {
            return try PushSettings(url: pushURL, audience: pushAudience, email: pushEmail)
        } catch {
            throw ValidationError(error.message)
        }
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
        // A key in use must not be overwritten by mistake.
        guard !FileManager.default.fileExists(atPath: out) else { throw ValidationError("\(out) is there already") }
        let file = try ServiceAccountFile.made(tokenURI: tokenURI).json()
        guard FileManager.default.createFile(atPath: out, contents: file, attributes: [.posixPermissions: 0o600]) else {
            throw ValidationError("\(out) cannot be written")
        }
    }
}
