import ArgumentParser
import Formats
import Foundation
import Operations
import RelayCore
import RelayStore

extension Customers {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Everything that is kept of a customer, receipts included, as JSON.",
            discussion: "For who asks what is known of them. Exits 1 where nothing is. It stands in the audit log.")

        @Argument(help: "The email; of somebody who never bought by email, the publisher's own name.")
        var customer: String

        @Option(help: "Why, for the audit log.")
        var reason: String?

        @OptionGroup var option: ConfigurationOption

        func run() async throws {
            let (customer, reason) = (customer.trimmingSpace(), reason)
            let export = try await DatabaseSession.run(option) { store -> CustomerExport? in
                let identity = try await store.identity(of: customer)
                guard !identity.isUnknown else { return nil }
                let act = LongAct<CustomerExport>.export(identity) { try await CustomerExport(of: $0, $1) }
                return try await Operations(store: store).perform(act, by: ShellUser.actor, reason: reason)
            }
            guard let export else {
                ConfigurationOption.complain("nothing is known of that customer")
                throw ExitCode(1)
            }
            try JSONOutput.write { export.write(to: &$0) }
        }
    }
}

/// What `customers export` prints.
private struct CustomerExport: Sendable {
    struct Purchase: Sendable {
        var purchase: ValidationDetail
        var ipAddress: String?
        /// As the app sent it; nil where it is no longer kept.
        var receipt: String?
    }

    struct Message: Sendable {
        var at: Timestamp
        var publisher: PublisherID
        var applicationUsername: Username
        /// JSON.
        var body: String
    }

    var customer: CustomerID
    var applicationUsernames: [Username]
    var purchases: [Purchase] = []
    var subscriptions: [OpsSubscription] = []
    var transfers: [OpsTransfer] = []
    var messages: [Message] = []

    init(of identity: CustomerIdentity, _ store: RelayStore) async throws {
        customer = identity.customer
        applicationUsernames = Array(Set(identity.names.map(\.username))).sorted()
        for (index, id) in identity.validations.enumerated() {
            guard let detail = try await store.detail(id, in: .all) else { continue }
            let sent = try await store.whatWasSent(id)
            purchases.append(
                Purchase(purchase: detail, ipAddress: sent.ipAddress?.value, receipt: sent.receipt.map(\.text)))
            if (index + 1).isMultiple(of: 100) {
                FileHandle.standardError.write(Data("\(index + 1) of \(identity.validations.count) purchases\n".utf8))
            }
        }
        for name in identity.subscriptions {
            subscriptions += try await store.subscriptions(
                matching: SubscriptionFilter(originalTransactionID: name.originalTransactionID, limit: 100),
                in: .publisher(name.publisher)
            ).items.filter { $0.name == name }
        }
        transfers = try await store.transfers(
            matching: TransferFilter(customer: identity.customer, limit: 1_000), in: .all
        ).items
        for name in identity.names {
            messages += try await store.messages(about: name).map {
                Message(
                    at: $0.at, publisher: name.publisher, applicationUsername: name.username, body: $0.body.value)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("customerEmail", customer.text)
        writer.beginArray("applicationUsernames")
        for name in applicationUsernames { writer.value(name.text) }
        writer.endArray()
        writer.beginArray("purchases")
        for one in purchases {
            writer.beginObject()
            writer.name("purchase")
            writer.value(one.purchase)
            writer.field("ipAddress", one.ipAddress)
            writer.field("receipt", one.receipt)
            writer.endObject()
        }
        writer.endArray()
        writer.array("subscriptions", subscriptions)
        writer.array("transfers", transfers)
        writer.beginArray("messages")
        for one in messages {
            writer.beginObject()
            writer.field("at", one.at.rfc3339)
            writer.field("publisher", one.publisher.text)
            writer.field("applicationUsername", one.applicationUsername.text)
            writer.field("body", json: one.body)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}

extension Acceptance.Receipt {
    /// As the app sent it.
    fileprivate var text: String {
        isText ? String(decoding: bytes.value, as: UTF8.self) : Data(bytes.value).base64EncodedString()
    }
}
