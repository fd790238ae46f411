import ArgumentParser
import Foundation
import SimulatorKit

/// `cleeng-simulator`: a stand-in for Cleeng.
package struct CleengSimulatorCommand: AsyncParsableCommand {
    static let tokenVariable = "CLEENG_SIMULATOR_PUBLISHER_TOKEN"
    static let standardToken = "pub_tok_simulated"

    package static let configuration = CommandConfiguration(
        commandName: "cleeng-simulator",
        abstract: "A stand-in for Cleeng, for development, demos, load and tests.",
        discussion: """
            Takes payments, StoreKit 2 purchases and notifications of the App Store, and answers entitlement reads, \
            as Cleeng does. A customer's behaviour is chosen by plus tags in the email (ana+after-3s@example.test, \
            ana+flaky-2@example.test) or through the control API under /_simulator. Everything is kept in memory.
            """)

    package init() {}

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 picks a free one and shows it in the start line.")
    var port = 8090

    @Option(
        help: ArgumentHelp(
            "The X-Publisher-Token that calls must carry.",
            discussion: "Default: $\(tokenVariable), else \(standardToken)."))
    var publisherToken: String?

    @Option(help: "Seconds from an accepted payment to its grant, where nothing else is said.")
    var grantAfter = 1.0

    @Option(
        name: .customLong("held-offer"),
        help: "What +entitled customers hold; repeatable. Default: S123456789_US and S598742062_US.")
    var heldOffers: [String] = []

    @Option(
        name: .customLong("storekit2-offer"),
        help: "The offer of a StoreKit 2 transaction that the control API does not know.")
    var storeKit2Offer = OfferId.standard

    @OptionGroup(title: "Webhooks")
    var webhooks: WebhookOptions

    @Option(help: "How many requests /_simulator/requests remembers.")
    var keepRequests = 100_000

    package func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
        guard (0...86_400).contains(grantAfter) else { throw ValidationError("--grant-after is 0 to 86400 seconds") }
        guard (1...1_000_000).contains(keepRequests) else {
            throw ValidationError("--keep-requests is 1 to 1000000")
        }
        _ = try webhooks.target()
        for offer in heldOffers where OfferId(offer) == nil {
            throw ValidationError("--held-offer: no offer id: \(offer.prefix(40))")
        }
    }

    package func run() async throws {
        let simulator = Simulator(settings: try settings(), publisherToken: token, identity: .appleStore)
        try await SimulatorServer(
            simulator, host: host, port: port, background: [WebhookService(simulator: simulator)]
        ).run(as: "cleeng-simulator")
    }

    private func settings() throws -> SimulatorSettings {
        var settings = SimulatorSettings()
        settings.grantAfterMilliseconds = Int64((grantAfter * 1_000).rounded())
        settings.requestCapacity = keepRequests
        settings.storeKit2Offer = storeKit2Offer
        settings.webhooks = try webhooks.target()
        if !heldOffers.isEmpty { settings.heldOffers = heldOffers.compactMap { OfferId($0) } }
        return settings
    }

    /// An empty variable counts as unset.
    private var token: String {
        if let publisherToken { return publisherToken }
        let variable = ProcessInfo.processInfo.environment[Self.tokenVariable] ?? ""
        return variable.isEmpty ? Self.standardToken : variable
    }
}

extension OfferId: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }

    var defaultValueDescription: String { text }
}

/// Initial address for the simulator's own events.
struct WebhookOptions: ParsableArguments {
    static let secretVariable = "CLEENG_SIMULATOR_WEBHOOK_SECRET"

    @Option(
        name: .customLong("webhook-url"),
        help: "Where events such as subscriptionCreated are posted. None are sent without it.")
    var url: String?

    @Option(
        name: .customLong("webhook-secret"),
        help: ArgumentHelp(
            "What events are signed with (HMAC-SHA256); 16 bytes at least.",
            discussion: "Default: $\(secretVariable)."))
    var secret: String?

    @Option(name: .customLong("webhook-signature-header"), help: "The header that carries the signature.")
    var signatureHeader = WebhookTarget.standardHeader

    @Option(name: .customLong("webhook-signature-encoding"), help: "How the signature is written: hex or base64.")
    var signatureEncoding = WebhookTarget.Encoding.hex

    @Flag(
        name: .customLong("webhook-with-email"),
        help: "subscriptionCreated and subscriptionTerminated name the customer's email too.")
    var withEmail = false

    /// nil if no events are sent. An empty variable counts as unset.
    func target() throws -> WebhookTarget? {
        guard let url else { return nil }
        let variable = ProcessInfo.processInfo.environment[Self.secretVariable] ?? ""
        guard let secret = secret ?? (variable.isEmpty ? nil : variable) else {
            throw ValidationError("--webhook-url needs --webhook-secret, or $\(Self.secretVariable)")
        }
        do {
            return try WebhookTarget(
                url: url, secret: secret, signatureHeader: signatureHeader, signatureEncoding: signatureEncoding,
                withEmail: withEmail)
        } catch {
            throw ValidationError(error.message)
        }
    }
}

extension WebhookTarget.Encoding: ExpressibleByArgument {}
