import AppStoreSimulation
import ArgumentParser
import Foundation
import NIOHTTP1
import SimulatorKit

/// `app-store-simulator play --roots FOLDER --to URL --original-transaction-id ID`
struct Play: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Plays the life of a subscription, read line by line from standard input.",
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

    @Option(help: "A running serve that receives it too, such as http://127.0.0.1:8091.")
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
            api: api.map { SimulatedAPIClient(url: $0) })
        while let line = readLine() {
            guard !line.allSatisfy(\.isWhitespace) else { continue }
            try StandardOutput.say(await player.answer(line))
        }
        guard player.wasTaken else { throw ExitCode.failure }
    }
}

/// Executes commands on one subscription, and posts each notification once.
struct LifePlayer {
    private var life: SimulatedSubscription
    private let transactions: StoreAuthority
    private let receipts: StoreAuthority
    private let url: String
    /// A simulated API that records each notification, if any.
    private let api: SimulatedAPIClient?
    /// Whether the last notification was accepted; true before the first.
    private(set) var wasTaken = true

    init(
        life: SimulatedSubscription, transactions: StoreAuthority, receipts: StoreAuthority, url: String,
        api: SimulatedAPIClient? = nil
    ) {
        self.life = life
        self.transactions = transactions
        self.receipts = receipts
        self.url = url
        self.api = api
    }

    /// - Returns: one line: the result, or why the command failed.
    mutating func answer(_ line: String) async throws -> String {
        do {
            switch try LifeCommand(line) {
            case .event(let event): return try await tell(event)
            case .lost(let event):
                guard api != nil else { return "error: \(LifeCommand.lostWord) needs --api" }
                return try await tell(event, isLost: true)
            case .transaction:
                let newest = try life.newest
                return try transactions.sign(json: newest.json(signedDate: Date()))
            case .receipt:
                _ = try life.newest
                return Data(try receipts.sign(life.receipt(at: Date()))).base64EncodedString()
            case .help: return LifeCommand.forms.joined(separator: ", ")
            }
        } catch let error as LifeError {
            return "error: \(error)"
        }
    }

    private mutating func tell(_ event: LifeEvent, isLost: Bool = false) async throws -> String {
        // Checked before the wait, which may be long.
        if let objection = life.objection(to: event, at: Date()) { throw objection }
        if let moment = life.earliest(for: event) { try await wait(until: moment) }
        let notification = try life.happen(event, at: Date())
        let body = try transactions.sign(notification)
        // A receiver may query the API at once.
        var complaint = await complaint { try await $0.put(notification) }
        var status: Int?
        if !isLost { status = await HTTPCall.send(.POST, body, to: url) }
        let result = SendAttempt.Result(status: status)
        if complaint == nil { complaint = await self.complaint { try await $0.add(body, result) } }
        wasTaken = (isLost || result == .success) && complaint == nil
        let outcome = isLost ? "lost" : HTTPCall.outcome(status)
        return [notification.notificationType, notification.subtype, outcome, complaint].compactMap(\.self).joined(
            separator: " ")
    }

    /// The event stays recorded, even if the API is unreachable.
    private func complaint(_ telling: (SimulatedAPIClient) async throws -> Void) async -> String? {
        guard let api else { return nil }
        do {
            try await telling(api)
            return nil
        } catch {
            return "(\(error))"
        }
    }

    /// Waits by the clock that dates signatures, which may be changed meanwhile.
    private func wait(until moment: Date) async throws {
        while case let rest = moment.timeIntervalSinceNow, rest > 0 {
            try await Task.sleep(for: .seconds(min(rest, 1)))
        }
    }
}
