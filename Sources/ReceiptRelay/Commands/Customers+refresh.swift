import ArgumentParser
import Cleeng
import Formats
import Logging
import OutboundHTTP
import Relay
import RelayCore

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

        /// Covers the five seconds that the customer's turn may take after another read.
        private static let patience = Duration.seconds(10)

        func run() async throws {
            guard let customer = CustomerEmail(email) else { throw ValidationError("\(email) is no email") }
            let settings = try ServeSettings(try option.settings())
            let (named, reason) = (publisher.map { PublisherID($0) }, reason)
            let (outcome, known) = try await DatabaseSession.run(option) { store in
                let asked = try await Self.asking(settings, store) { inquirer in
                    try await Operations(store: store).perform(
                        .refresh(customer, of: named, inquirer, patience: Self.patience), by: ShellUser.actor,
                        reason: reason)
                }
                return (
                    asked.outcome,
                    try await store.subscriptions.entitlements(
                        of: customer.customer, publisher: asked.publisher)
                )
            }
            if json {
                try JSONOutput.write { writer in
                    writer.beginObject()
                    writer.field("customerEmail", customer.customer.text)
                    writer.field("outcome", outcome.rawValue)
                    writer.array("entitlements", known)
                    writer.endObject()
                }
            } else {
                TextTable.write(
                    known, Validation.columns("offerId", "status", "expiresAt", "reason"),
                    labels: ["expiresAt": "Until"])
            }
            switch outcome {
            case .asked: if !known.contains(where: \.status.accessGranted) { throw ExitCode(1) }
            case .pending: Failure.complain("a purchase is pending: Cleeng is asked about it anyway")
            case .tooSoon:
                throw Failure(
                    "the customer was read a moment ago: try again after RELAY_POLL_INTERVAL_SECONDS", 75)
            case .away: throw Failure("Cleeng cannot be asked now; `receipt-relay status` says how it does", 75)
            }
        }

        private static func asking<T: Sendable>(
            _ settings: ServeSettings, _ store: RelayStore, _ body: (CustomerInquiry) async throws -> T
        ) async throws -> T {
            try await store.offers.ready()
            // A publisher whose account is not configured here must not be looked up with the common account.
            _ = try await settings.roster.read(store)
            let logger = Logger(label: "command", factory: { _ in SwiftLogNoOpLogHandler() })
            let connections = settings.accounts.common.cleeng.connections()
            defer { connections.shutDown() }
            let inquiry = CustomerInquiry(
                store: store,
                upstreams: settings.accounts.mapAccounts { publisher, account in
                    Upstream(
                        client: CleengClient(account.cleeng, connections: connections, logger: logger),
                        account: publisher, clock: store.memory.clock, maxConcurrentCalls: 1, work: Wakeup(),
                        logger: logger)
                }, interval: settings.pollInterval, logger: logger)
            return try await body(inquiry)
        }
    }
}
