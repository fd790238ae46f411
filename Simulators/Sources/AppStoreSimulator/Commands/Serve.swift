import AppStoreSimulation
import ArgumentParser
import Crypto
import Foundation
import SimulatorKit

/// `app-store-simulator serve --roots FOLDER --key-file FILE --key-id ID --issuer-id UUID`
struct ServeAPI: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Plays the App Store Server API.",
        discussion: """
            Answers with the status of a subscription, and its notifications, which it receives under /_simulator or from \
            notify and play with --api. It is Apple's OCSP responder too. Everything is kept in memory. SIGTERM ends it.
            """)

    @Option(help: "What create-roots has made.")
    var roots: String

    @Option(help: "The key that signs tokens, private or public, in PEM: what create-api-key has made.")
    var keyFile: String

    @Option(help: "The key's id, which tokens name.")
    var keyID: String

    @Option(help: "The issuer's UUID, which tokens name.")
    var issuerID: String

    @Option(help: "The app.")
    var bundleID = "com.example.app"

    @Option(help: "The app's number in the App Store, named in answers where it is given.")
    var appAppleID: Int64?

    @Option(help: "Which of Apple's servers it is: Production or Sandbox.")
    var environment = "Sandbox"

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 picks a free one and shows it in the start line.")
    var port = 8091

    @Option(help: "How many notifications a page of the history holds.")
    var pageSize = 20

    @Option(
        help:
            "Where test notifications go; without it, none can be asked for until /_simulator/notification-url says where."
    )
    var notificationURL: String?

    @Option(help: "How many requests /_simulator/requests remembers.")
    var keepRequests = 10_000

    func validate() throws {
        try OptionChecks.environment(environment)
        if let notificationURL { try OptionChecks.url(notificationURL, of: "--notification-url") }
        guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
        guard (1...100).contains(pageSize) else { throw ValidationError("--page-size is 1 to 100") }
        guard (1...100_000).contains(keepRequests) else { throw ValidationError("--keep-requests is 1 to 100000") }
        guard UUID(uuidString: issuerID) != nil else { throw ValidationError("--issuer-id is a UUID") }
        for (name, text) in [("--key-id", keyID), ("--bundle-id", bundleID)] where text.isEmpty {
            throw ValidationError("\(name) is empty")
        }
    }

    func run() async throws {
        let settings = ServerSettings(
            authority: try .kept(in: roots, for: .transactions), receipts: try? .kept(in: roots, for: .receipts),
            verifier: TokenVerifier(key: try key(), keyId: keyID, issuerId: issuerID, bundleId: bundleID),
            environment: environment, appAppleId: appAppleID, pageSize: pageSize, keepRequests: keepRequests)
        let (calls, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        var state = try SimulatedServerAPI(settings: settings)
        state.tests.url = notificationURL
        let api = LockedService(state, afterCall: { continuation.yield() })
        try await SimulatorServer(api, host: host, port: port, background: [TestSender(api: api, calls: calls)])
            .run(as: "app-store-simulator")
    }

    private func key() throws -> P256.Signing.PublicKey {
        guard let pem = try? String(contentsOfFile: keyFile, encoding: .utf8) else {
            throw ValidationError("\(keyFile) cannot be read")
        }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) { return key.publicKey }
        if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) { return key }
        throw ValidationError("\(keyFile) holds no P-256 key in PEM")
    }
}

/// Options of `serve`.
struct ServerSettings: Sendable {
    let authority: StoreAuthority
    /// Authority whose certificates the OCSP responder knows, besides those of ``authority``.
    var receipts: StoreAuthority?
    let verifier: TokenVerifier
    let environment: String
    /// nil if answers do not name it.
    let appAppleId: Int64?
    let pageSize: Int
    let keepRequests: Int

    var bundleId: String { verifier.bundleId }
}
