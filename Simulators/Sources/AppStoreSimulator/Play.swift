import AppStoreSimulation
import ArgumentParser
import Foundation

/// `app-store-simulator play --roots FOLDER --to URL --original-transaction-id ID`
struct Play: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Plays the life of a subscription, told line by line on standard input.",
        discussion: """
            Each line is answered with one: what was posted and how that was answered, or an error. Ends with its input; \
            exits with 1 where the last notification was not taken. With --api, an event \
            that ends with --lost is posted to nobody, and only the API knows of it. Commands: \
            \(LifeCommand.forms.joined(separator: ", ")).
            """)

    @Option(help: "What create-roots has made.")
    var roots: String

    @Option(help: "Where notifications go, such as http://127.0.0.1:8080/apple/notifications.")
    var to: String

    @Option(help: "A running serve that is told of it too, such as http://127.0.0.1:8091.")
    var api: String?

    @Option(help: "Of the subscription's first transaction; the others count on from it.")
    var originalTransactionID: Int64

    @Option(help: "How many seconds a month lasts.")
    var month = 6

    @Option(help: "Production or Sandbox.")
    var environment = "Sandbox"

    @Option(help: "The app.")
    var bundleID = "com.example.app"

    @Option(help: "The app's number in the App Store; production names it, the sandbox does not.")
    var appAppleID: Int64?

    @Option(help: "What is bought first.")
    var productID = "com.example.app.monthly"

    func validate() throws {
        try OptionChecks.environment(environment)
        try OptionChecks.url(to)
        if let api { try OptionChecks.url(api, of: "--api") }
        guard (1...999_999_999_999_999_999).contains(originalTransactionID) else {
            throw ValidationError("--original-transaction-id has 1 to 18 digits here")
        }
        guard (1...31_536_000).contains(month) else { throw ValidationError("--month is 1 to 31536000 seconds") }
    }

    func run() async throws {
        var player = try LifePlayer(
            life: SimulatedSubscription(
                firstTransactionId: originalTransactionID, productId: productID, bundleId: bundleID,
                environment: environment, appAppleId: appAppleID, period: TimeInterval(month)),
            transactions: .kept(in: roots, for: .transactions), receipts: .kept(in: roots, for: .receipts), url: to,
            api: api.map { ToldAPI(url: $0) })
        while let line = readLine() {
            guard !line.allSatisfy(\.isWhitespace) else { continue }
            try StandardOutput.say(await player.answer(line))
        }
        guard player.wasTaken else { throw ExitCode.failure }
    }
}
