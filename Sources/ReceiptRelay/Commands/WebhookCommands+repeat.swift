import ArgumentParser
import Formats
import Relay
import RelayCore

extension WebhookCommands {
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tells an endpoint the present state of a customer once more, or of all in a range.",
            discussion: """
                What is sent is the state as it is now, under a new id, with the reason WEBHOOK_REPEATED. Either the id of one \
                message, as GET /ops/webhooks lists it and `webhook-id` carries it, or --since: then of all messages made since that \
                were not delivered, and of all changes since that an endpoint did not get because it was disabled, each customer \
                once. A parked message is delivered as it is, under its own id.
                """)

        @Argument(help: "A message's id.")
        var deliveryId: String?

        @Option(help: "Messages and changes at or after: a date, or a time such as 2026-11-20T10:00:00Z.")
        var since: String?

        @Option(help: "Messages and changes before; now where it is left out.")
        var until: String?

        @Option(help: "Only this endpoint's.")
        var endpoint: String?

        @Flag(help: "Those that were delivered too.")
        var delivered = false

        @Flag(help: "Only says how many customers they are.")
        var dryRun = false

        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            guard (deliveryId == nil) != (since == nil) else {
                throw ValidationError("either a message's id or --since is wanted")
            }
            if deliveryId != nil, until != nil || endpoint != nil || delivered || dryRun {
                throw ValidationError("--until, --endpoint, --delivered and --dry-run go with --since")
            }
            if let deliveryId, WebhookCommands.deliveryID(deliveryId) == nil {
                throw ValidationError("a message's id is 38 hexadecimal digits")
            }
            try TimeRange.check(since: since, until: until)
            if let endpoint { _ = try WebhookCommands.endpointID(endpoint) }
        }

        func run() async throws {
            guard let deliveryId else { return try await range() }
            guard let id = WebhookCommands.deliveryID(deliveryId) else { return }
            let act = Act.replay(message: id)
            print(try await DatabaseSession.perform(act, option))
        }

        private func range() async throws {
            guard let from = since.flatMap(Timestamp.init(rfc3339:)) else { return }
            let filter = RepeatFilter(
                from: from, to: until.flatMap(Timestamp.init(rfc3339:)) ?? Timestamp.datable.upperBound,
                endpoint: endpoint.flatMap { EndpointID($0) }, includesDelivered: delivered,
                keptDays: try option.settings().retention().receiptDays)
            let isDryRun = dryRun
            let act = LongAct.replay(messages: filter, isDryRun: isDryRun)
            let outcome = try await DatabaseSession.run(option) {
                try await Operations(store: $0).perform(act, by: ShellUser.actor)
            }
            print(isDryRun ? "\(outcome.sent) would be sent" : "\(outcome.sent) are sent")
            guard outcome.failed > 0 else { return }
            for reason in outcome.reasons { Failure.complain(reason) }
            throw Failure("\(outcome.failed) customers cannot be read, and nothing is sent about them")
        }
    }

    struct Resync: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tells all endpoints of a publisher the present state of one customer once more.",
            discussion: "Prints the id of each new message, one for each endpoint.")

        @Option(help: "The publisher's own name for the customer (applicationUsername).")
        var username: Username

        @Option(help: "The publisher.")
        var publisher = "main"

        @OptionGroup var option: ConfigurationOption

        func validate() throws {
            guard (1...512).contains(username.text.unicodeScalars.count) else {
                throw ValidationError("--username is 1 to 512 characters")
            }
        }

        func run() async throws {
            let act = Act.resync(
                username, of: PublisherID(publisher))
            for id in try await DatabaseSession.perform(act, option) { print(id) }
        }
    }

    /// The message's id, also from a `webhook-id` header, which may have a suffix after a dot for another password.
    fileprivate static func deliveryID(_ text: String) -> DeliveryID? {
        text.parts(at: ".", maxSplits: 1).first.flatMap { DeliveryID($0) }
    }
}
