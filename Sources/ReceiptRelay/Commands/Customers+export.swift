import ArgumentParser
import Formats
import Foundation
import Relay
import RelayCore

extension Customers {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Everything that is kept of a customer, receipts included, as JSON.",
            discussion: "For who asks what is known of them. Exits 1 where nothing is. It stands in the audit log.")

        @Argument(help: "The email; of somebody who never bought by email, the publisher's own name.")
        var customer: String

        @Option(help: "Whose name it is, if it is no email and several publishers have such a customer.")
        var publisher: String?

        @Option(help: "Why, for the audit log.")
        var reason: String?

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let (customer, reason, publisher) = (customer.trimmingSpace(), reason, publisher.map { PublisherID($0) })
            let export = try await DatabaseSession.run(option) { store in
                let identity = try await store.customers.identity(of: customer, publisher: publisher)
                let mentions = try await CustomerExport.Mentions(of: identity, store)
                guard !identity.isUnknown || !mentions.isEmpty else {
                    throw Failure("nothing is known of that customer")
                }
                let act = LongAct<CustomerExport>.export(identity) { try await CustomerExport(of: $0, mentions, $1) }
                return try await Operations(store: store).perform(act, by: ShellUser.actor, reason: reason)
            }
            try JSONOutput.write(export)
        }
    }
}

/// The output of `customers export`.
private struct CustomerExport: Viewed {
    struct Purchase: Viewed {
        var detail: ValidationDetail
        var ipAddress: String?
        /// Receipt as the app sent it; nil if it is no longer stored.
        var receipt: String?

        static let fields: [Field<Purchase>] = [
            Field("purchase") { FieldValue.object($0.detail) }, Field("ipAddress") { $0.ipAddress },
            Field("receipt") { $0.receipt },
        ]
    }

    struct Message: Viewed {
        var at: Timestamp
        var name: CustomerName
        /// Body as JSON.
        var body: String

        static let fields: [Field<Message>] = [
            Field("at") { $0.at }, Field("publisher") { $0.name.publisher },
            Field("applicationUsername") { $0.name.username }, Field("body") { FieldValue.json($0.body) },
        ]
    }

    /// The publisher's statement about the customer for Apple's consumption requests.
    struct Consumption: Viewed {
        var name: CustomerName
        var facts: ConsumptionFacts

        static let fields: [Field<Consumption>] =
            [
                Field("publisher") { $0.name.publisher }, Field("applicationUsername") { $0.name.username },
                Field("facts") { FieldValue.object($0.facts) },
            ]
    }

    /// Texts that mention the customer's email, by the names of their lists. Another name may be part of any text.
    struct Mentions: Sendable {
        var lists: [String: [CustomerMention]] = [:]

        var isEmpty: Bool { lists.values.allSatisfy(\.isEmpty) }

        init(of identity: CustomerIdentity, _ store: RelayStore) async throws {
            guard identity.isEmail else { return }
            for rows in store.customers.mentioning {
                lists[rows.member] = try await store.customers.mentions(of: identity.customer, in: rows)
            }
        }
    }

    var identity: CustomerIdentity
    var mentions: Mentions
    var purchases: [Purchase] = []
    var subscriptions: [OpsSubscription] = []
    var transfers: [OpsTransfer] = []
    var messages: [Message] = []
    var consumption: [Consumption] = []
    var refunds: [OpsConsumption] = []

    static let fields: [Field<CustomerExport>] = own + mentioned

    private static let own: [Field<CustomerExport>] = [
        Field("customerEmail") { $0.identity.customer },
        Field("applicationUsernames") { one in
            FieldValue.list(Set(one.identity.names.map(\.username)).sorted().map(\.fieldValue))
        },
        Field("purchases") { FieldValue.list($0.purchases) },
        Field("subscriptions") { FieldValue.list($0.subscriptions) },
        Field("transfers") { FieldValue.list($0.transfers) }, Field("messages") { FieldValue.list($0.messages) },
        Field("consumption") { FieldValue.list($0.consumption) },
        Field("consumptionRequests") { FieldValue.list($0.refunds) },
    ]

    private static let mentioned: [Field<CustomerExport>] =
        Features.stored.flatMap(\.tables.mentions).map { rows in
            Field(rows.member) { one in
                FieldValue.list((one.mentions.lists[rows.member] ?? []).map { fields(of: $0, in: rows) })
            }
        }

    private static func fields(of mention: CustomerMention, in rows: MentioningRows) -> FieldValue {
        .object([
            ("at", mention.at.fieldValue), ("publisher", mention.publisher?.fieldValue ?? .null),
            (rows.nameMember, mention.name.fieldValue),
            (rows.textMember, rows.isJSON ? .json(mention.text.value) : .text(mention.text.value)),
        ])
    }

    init(of identity: CustomerIdentity, _ mentions: Mentions, _ store: RelayStore) async throws {
        self.identity = identity
        self.mentions = mentions
        for (index, id) in identity.validations.enumerated() {
            guard let detail = try await store.ops.detail(id, in: .all) else { continue }
            let sent = try await store.customers.whatWasSent(id)
            purchases.append(
                Purchase(detail: detail, ipAddress: sent.ipAddress?.value, receipt: sent.receipt.map(\.text)))
            if (index + 1).isMultiple(of: 100) {
                FileHandle.standardError.write(Data("\(index + 1) of \(identity.validations.count) purchases\n".utf8))
            }
        }
        for name in identity.subscriptions {
            subscriptions += try await store.ops.subscriptions(
                matching: SubscriptionFilter(originalTransactionID: name.originalTransactionID, limit: 100),
                in: .publisher(name.publisher)
            ).items.filter { $0.name == name }
        }
        transfers = try await store.ops.transfers(
            matching: TransferFilter(customer: identity.customer, limit: 1_000), in: .all
        ).items
        for name in identity.names {
            messages += try await store.customers.messages(about: name).map {
                Message(at: $0.at, name: name, body: $0.body.value)
            }
            if let facts = try await store.consumption.facts(of: name) {
                consumption.append(Consumption(name: name, facts: facts))
            }
            refunds += try await store.consumption.requests(about: name)
        }
    }
}

extension Acceptance.Receipt {
    /// Text as the app sent it.
    fileprivate var text: String {
        isText ? String(decoding: bytes.value, as: UTF8.self) : Data(bytes.value).base64EncodedString()
    }
}
