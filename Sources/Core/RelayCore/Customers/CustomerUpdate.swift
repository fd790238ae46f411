import Formats

/// Changed purchases of a customer, as endpoints are notified of them. One update may cover several
/// ``CustomerChange``s.
public struct CustomerUpdate: Sendable {
    public var name: CustomerName
    public var version: Int64
    /// A ``CustomerChange/Reason``, or ``repeated``.
    public var reason: String
    /// Nil if the change concerns several environments, or none.
    public var environment: StoreEnvironment?
    public var subscriptionKey: TransactionID?
    public var changedAt: Timestamp
    public var trace: String?

    /// Reason of a message that an operator or the publisher asked for.
    public static let repeated = "WEBHOOK_REPEATED"

    public init(
        name: CustomerName, version: Int64, reason: String, changedAt: Timestamp, environment: StoreEnvironment? = nil,
        subscriptionKey: TransactionID? = nil, trace: String? = nil
    ) {
        self.name = name
        self.version = version
        self.reason = reason
        self.changedAt = changedAt
        self.environment = environment
        self.subscriptionKey = subscriptionKey
        self.trace = trace
    }

    /// Whether a repeated message may be sent. Version 1 means that the customer's row is new: the name may be
    /// misspelled.
    public func isOfKnownCustomer(_ purchases: CustomerPurchases) -> Bool { version > 1 || !purchases.all.isEmpty }

    /// Body of the message to an endpoint, without the password, which ``WebhookBody`` inserts after the type. Nil if
    /// the endpoint belongs to another publisher or receives another environment's purchases.
    ///
    /// - Parameters:
    ///   - environment: the environment whose purchases the endpoint receives.
    ///   - id: unique id of the message.
    public func body(
        to publisher: PublisherID, in environment: WebhookEnvironment, _ purchases: CustomerPurchases,
        id: @autoclosure () -> String
    ) -> String? {
        guard publisher == name.publisher, concerns(environment, purchases) else { return nil }
        return body(purchases.purchases(in: environment), id: id())
    }

    /// Whether the change concerns an environment. A purchase recognized as a test after its acceptance concerns both,
    /// since it leaves one of them.
    private func concerns(_ asked: WebhookEnvironment, _ purchases: CustomerPurchases) -> Bool {
        guard let environment else { return true }
        let isSandbox = SubscriptionName(publisher: "", environment: environment, originalTransactionID: "").isSandbox
        switch asked {
        case .all: return true
        case .production: return !isSandbox
        case .sandbox: return isSandbox || concerned(purchases.all).contains(where: \.isSandbox)
        }
    }

    /// The purchases of the changed subscription.
    private func concerned(_ purchases: [CustomerPurchase]) -> [CustomerPurchase] {
        guard let subscriptionKey else { return [] }
        let platform = StorePlatform(subscriptionKey: subscriptionKey)
        let id = platform.name(ofKey: subscriptionKey)
        return purchases.filter { $0.platform == platform && $0.purchaseID == id }
    }

    private func body(_ purchases: [CustomerPurchase], id: String) -> String {
        var writer = JSONWriter(capacity: 320 + 420 * purchases.count)
        writer.beginObject()
        writer.member("type", "purchases.updated")
        writer.member("applicationUsername", name.username)
        writer.name("notification")
        writer.beginObject()
        writer.member("reason", reason)
        writer.member("id", id)
        writer.member("date", second: changedAt)
        if let subscriptionKey {
            let platform = StorePlatform(subscriptionKey: subscriptionKey)
            let purchaseID = platform.name(ofKey: subscriptionKey)
            let purchase = concerned(purchases)
                .max { ($0.renewedAt ?? .earliest) < ($1.renewedAt ?? .earliest) }
            writer.member("productId", purchase.map { platform.prefixed($0.productID) })
            writer.member("purchaseId", platform.prefixed(purchaseID))
            writer.member("transactionId", purchase.map { platform.prefixed($0.transactionID) })
        }
        writer.endObject()
        writer.name("purchases")
        PurchaseJSON.write(purchases, into: &writer)
        writer.endObject()
        return writer.text
    }
}
