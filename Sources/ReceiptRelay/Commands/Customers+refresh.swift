import ArgumentParser
import AsyncHTTPClient
import Cleeng
import Logging
import RelayCore
import RelayStore
import RelayWorkers

extension Customers {
    struct Refresh: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Asks Cleeng now what a customer is entitled to; access follows the answer.",
            discussion: """
                Prints what is known then, offer by offer. It needs the settings that `serve` has, the publisher token among them. \
                It stands in the audit log. Exits 1 where the customer has access to nothing, 75 where Cleeng could not be asked: \
                then what is printed is what was known before.
                """)

        @Argument(help: "The email, without regard to case.")
        var email: String

        @Option(help: "Whose customer; may be left out where that is one publisher's.")
        var publisher: String?

        @Option(help: "Why, for the audit log.")
        var reason: String?

        @Flag(help: "As JSON.")
        var json = false

        @OptionGroup var option: ConfigurationOption

        /// The customer's turn may come five seconds after somebody else's read.
        private static let patience = Duration.seconds(10)

        func run() async throws {
            guard let customer = CustomerEmail(email) else { throw ValidationError("\(email) is no email") }
            let settings = try ConfigurationOption.reporting { try ServeSettings(try option.settings()) }
            let (named, reason) = (publisher.map { PublisherID($0) }, reason)
            let (outcome, known) = try await DatabaseSession.run(option) { store in
                let publisher: PublisherID
                switch try await store.publisher(of: customer.customer, named: named, in: .all) {
                case .one(let one): publisher = one
                case .unknown: throw Self.refusal("no publisher goes by that id")
                case .several(let known):
                    let names = known.map(\.text).joined(separator: ", ")
                    throw Self.refusal("name the publisher with --publisher" + (known.isEmpty ? "" : ": \(names)"))
                }
                let outcome = try await Self.ask(about: customer, of: publisher, settings, store)
                try await store.note(
                    .customerRefreshed, customer.customer.text, of: publisher,
                    reason: [reason, "(\(outcome.rawValue))"].compactMap(\.self).joined(separator: " "))
                return (outcome, try await store.entitlements(of: customer.customer, publisher: publisher))
            }
            if json {
                try JSONOutput.write(
                    RefreshOutput(
                        customerEmail: customer.customer, outcome: outcome.rawValue,
                        entitlements: known.map(EntitlementOutput.init)))
            } else {
                Table(columns: ["OFFER", "STATUS", "UNTIL", "REASON"]).write(
                    known.map { [$0.offerID.text, $0.status.name, $0.expiresAt?.rfc3339 ?? "-", $0.reason ?? "-"] })
            }
            switch outcome {
            case .asked: if !known.contains(where: \.status.accessGranted) { throw ExitCode(1) }
            case .pending: ConfigurationOption.complain("a purchase is pending: Cleeng is asked every few seconds")
            case .tooSoon: throw Self.refusal("the customer was read a moment ago: try again in five seconds", 75)
            case .away: throw Self.refusal("Cleeng cannot be asked now; `receipt-relay status` says how it does", 75)
            }
        }

        private static func refusal(_ text: String, _ code: Int32 = 64) -> ExitCode {
            ConfigurationOption.complain(text)
            return ExitCode(code)
        }

        private static func ask(
            about customer: CustomerEmail, of publisher: PublisherID, _ settings: ServeSettings, _ store: RelayStore
        ) async throws -> CustomerInquiryOutcome {
            try await store.readClock()
            try await store.readyCatalogue()
            // Whose account is not here must not be asked about with the common one.
            _ = try await settings.roster.read(store)
            let logger = Logger(label: "command", factory: { _ in SwiftLogNoOpLogHandler() })
            let httpClient = HTTPClient(
                eventLoopGroupProvider: .singleton,
                configuration: settings.accounts.common.cleeng.httpClientConfiguration)
            let inquiry = CustomerInquiry(
                store: store,
                upstreams: settings.accounts.mapAccounts { publisher, account in
                    Upstream(
                        client: CleengClient(account.cleeng, httpClient: httpClient, logger: logger),
                        account: publisher, clock: store.clock, maxConcurrentCalls: 1, work: Wakeup(), logger: logger)
                }, interval: settings.pollInterval, leeway: settings.apple.renewalLeeway, logger: logger)
            let outcome: CustomerInquiryOutcome
            do {
                outcome = try await inquiry.ask(
                    about: customer, offer: nil, of: publisher, patience: Self.patience)
            } catch {
                try? await httpClient.shutdown()
                throw error
            }
            try await httpClient.shutdown()
            return outcome
        }
    }
}

private struct RefreshOutput: Encodable {
    var customerEmail: CustomerID
    var outcome: String
    var entitlements: [EntitlementOutput]
}

private struct EntitlementOutput: Encodable {
    var offerId: OfferID
    var status: String
    var accessGranted: Bool
    var expiresAt: String?
    var reason: String?

    init(_ one: Validation) {
        offerId = one.offerID
        status = one.status.name
        accessGranted = one.status.accessGranted
        expiresAt = one.expiresAt?.rfc3339
        reason = one.reason
    }
}
