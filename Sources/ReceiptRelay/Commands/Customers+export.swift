import ArgumentParser
import Foundation
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
                let export = try await CustomerExport(of: identity, store)
                try await store.note(.customerExported, identity.customer.text, reason: reason)
                return export
            }
            guard let export else {
                ConfigurationOption.complain("nothing is known of that customer")
                throw ExitCode(1)
            }
            try JSONOutput.write(export)
        }
    }
}

/// What `customers export` prints.
private struct CustomerExport: Encodable, Sendable {
    struct Purchase: Encodable, Sendable {
        var purchase: ValidationDetailOutput
        var ipAddress: String?
        /// As the app sent it; null where it is no longer kept.
        var receipt: String?
    }

    struct Message: Encodable, Sendable {
        var at: String
        var publisher: PublisherID
        var applicationUsername: Username
        var body: StoredJSON?
    }

    var customerEmail: CustomerID
    var applicationUsernames: [Username]
    var purchases: [Purchase] = []
    var subscriptions: [SubscriptionOutput] = []
    var transfers: [TransferOutput] = []
    var messages: [Message] = []

    init(of identity: CustomerIdentity, _ store: RelayStore) async throws {
        customerEmail = identity.customer
        applicationUsernames = Array(Set(identity.names.map(\.username))).sorted()
        for (index, id) in identity.validations.enumerated() {
            guard let detail = try await store.detail(id, in: .all) else { continue }
            let sent = try await store.whatWasSent(id)
            purchases.append(
                Purchase(
                    purchase: ValidationDetailOutput(detail), ipAddress: sent.ipAddress?.value,
                    receipt: sent.receipt.map(\.text)))
            if (index + 1).isMultiple(of: 100) {
                FileHandle.standardError.write(Data("\(index + 1) of \(identity.validations.count) purchases\n".utf8))
            }
        }
        for name in identity.subscriptions {
            subscriptions += try await store.subscriptions(
                matching: SubscriptionFilter(originalTransactionID: name.originalTransactionID, limit: 100),
                in: .publisher(name.publisher)
            ).items.filter { $0.name == name }.map(SubscriptionOutput.init)
        }
        transfers = try await store.transfers(
            originalTransactionID: nil, customer: identity.customer, limit: 1_000, cursor: nil, in: .all
        ).items.map(TransferOutput.init)
        for name in identity.names {
            messages += try await store.messages(about: name).map {
                Message(
                    at: $0.at.rfc3339, publisher: name.publisher, applicationUsername: name.username,
                    body: StoredJSON($0.body.value))
            }
        }
    }
}

extension Acceptance.Receipt {
    /// As the app sent it.
    fileprivate var text: String {
        isText ? String(decoding: bytes.value, as: UTF8.self) : Data(bytes.value).base64EncodedString()
    }
}
