import ArgumentParser
import RelayCore
import RelayStore

extension WebhookCommands {
    /// What composes the present state of a customer, as the copies that are configured like this command do.
    private static func repeater(_ store: RelayStore, _ option: ConfigurationOption) throws -> CustomerUpdates {
        let settings = try option.settings()
        let leeway = try ConfigurationOption.reporting { try settings.duration(.appleRenewalLeeway) }
        return CustomerUpdates(store: store, leeway: leeway)
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tells an endpoint the present state of a customer once more, or of all in a range.",
            discussion: """
                What is sent is the state as it is now, under a new id, with the reason WEBHOOK_REPEATED. Either the id of one \
                message, as GET /ops/webhooks lists it and `webhook-id` carries it, or --since: then of all messages made since that \
                were not delivered, each customer once. A parked message is delivered as it is, under its own id.
                """)

        @Argument(help: "A message's id.")
        var deliveryId: String?

        @Option(help: "Messages made at or after: a date, or a time such as 2026-11-20T10:00:00Z.")
        var since: String?

        @Option(help: "Messages made before; now where it is left out.")
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
            for (name, text) in [("since", since), ("until", until)] {
                if let text, Timestamp(rfc3339: text) == nil {
                    throw ValidationError("--\(name) is a date, or a time such as 2026-11-20T10:00:00Z")
                }
            }
            if let endpoint { _ = try WebhookCommands.endpointID(endpoint) }
        }

        func run() async throws {
            guard let deliveryId else { return try await range() }
            guard let id = WebhookCommands.deliveryID(deliveryId) else { return }
            let new: DeliveryID? = try await DatabaseSession.run(option) { store in
                guard let delivery = try await store.delivery(id, in: .all),
                    let endpoint = EndpointID(delivery.endpoint)
                else {
                    ConfigurationOption.complain("there is no message with that id")
                    throw ExitCode(1)
                }
                guard try await store.endpoint(endpoint, in: .all)?.isActive == true else {
                    ConfigurationOption.complain("its endpoint is disabled or removed")
                    throw ExitCode(1)
                }
                if try await store.replayParkedDelivery(id, in: .all, by: ShellUser.name, reason: nil) { return id }
                let new = try await WebhookCommands.repeater(store, option).repeatCustomer(
                    publisher: delivery.publisher, username: delivery.applicationUsername, endpoint: endpoint)
                if let new {
                    try await store.note(.webhookReplayed, "\(id)", of: delivery.publisher, reason: "as \(new)")
                }
                return new
            }
            guard let new else {
                ConfigurationOption.complain("nothing is known of that customer any more")
                throw ExitCode(1)
            }
            print(new)
        }

        private func range() async throws {
            guard let from = since.flatMap(Timestamp.init(rfc3339:)) else { return }
            let filter = RepeatFilter(
                from: from, to: until.flatMap(Timestamp.init(rfc3339:)) ?? Timestamp.datable.upperBound,
                endpoint: endpoint.flatMap { EndpointID($0) }, includesDelivered: delivered)
            let isDryRun = dryRun
            let count = try await DatabaseSession.run(option) { store in
                var filter = filter
                var count = 0
                while true {
                    let page = try await store.repeatTargets(filter, in: .all)
                    for target in page where !isDryRun {
                        let new = try await WebhookCommands.repeater(store, option).repeatCustomer(
                            publisher: target.publisher, username: target.username, endpoint: target.endpoint)
                        if new != nil { count += 1 }
                    }
                    if isDryRun { count += page.count }
                    guard page.count == filter.limit, let last = page.last else {
                        if !isDryRun, count > 0 {
                            try await store.note(
                                .webhookReplayed, "since \(filter.from.rfc3339)", reason: "\(count) messages")
                        }
                        return count
                    }
                    filter.after = last
                }
            }
            print(isDryRun ? "\(count) would be sent" : "\(count) are sent")
        }
    }

    struct Resync: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tells all endpoints of a publisher the present state of one customer once more.")

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
            let (username, publisher) = (username, publisher)
            let new = try await DatabaseSession.run(option) { store in
                let new = try await WebhookCommands.repeater(store, option).repeatCustomer(
                    publisher: PublisherID(publisher), username: username, endpoint: nil)
                if new != nil {
                    try await store.note(
                        .customerResynced, username.text, of: PublisherID(publisher), reason: "of \(publisher)")
                }
                return new
            }
            guard let new else {
                ConfigurationOption.complain("nothing is known of that customer, or no endpoint takes messages")
                throw ExitCode(1)
            }
            print(new)
        }
    }

    /// As `webhook-id` carries it too, where that has the mark of another password behind it.
    fileprivate static func deliveryID(_ text: String) -> DeliveryID? {
        text.parts(at: ".", maxSplits: 1).first.flatMap { DeliveryID($0) }
    }
}
