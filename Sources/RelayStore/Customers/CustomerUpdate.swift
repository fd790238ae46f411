import Formats
import Foundation
import Postgres
import RelayCore

/// A change of a customer's purchases, as endpoints receive it.
struct CustomerUpdate: Sendable {
    var name: CustomerName
    var version: Int64
    var reason: String
    /// Nil if the change concerns several environments, or none.
    var environment: StoreEnvironment?
    var subscriptionKey: TransactionID?
    var changedAt: Timestamp
    var trace: String?

    init(name: CustomerName, version: Int64, reason: String, changedAt: Timestamp) {
        self.name = name
        self.version = version
        self.reason = reason
        self.changedAt = changedAt
    }

    /// Locks customers whose purchases changed, the longest waiting first. `stored_username` is an expression, so that
    /// it is read without decryption: it finds the row even if the name cannot be decrypted. Index used:
    /// `customers_untold`.
    static func take(limit: Int) -> SQL {
        """
        SELECT c.publisher, ROW(c.sealed_by, c.username) AS username, c.version, c.reason, c.environment, c.subscription_key,
               c.changed_at, c.trace, c.bucket, c.username || '' AS stored_username
        FROM customers c
        WHERE c.untold_since <= clock_timestamp()
        ORDER BY c.untold_since
        LIMIT \(.int4(Int32(limit)))
        FOR UPDATE SKIP LOCKED
        """
    }

    /// Key of a row of ``take(limit:)``, readable even if the name is not.
    struct Key: Sendable {
        var bucket: Int16
        var publisher: PublisherID
        /// The stored, possibly sealed text.
        var username: String

        init(_ row: PostgresRow) throws {
            (bucket, publisher, username) = (
                try row.get("bucket"), try row.get("publisher"), try row.get("stored_username")
            )
        }
    }

    init(_ row: PostgresRow) throws {
        self.init(
            name: try row.customerName(), version: try row.get("version"), reason: try row.get("reason"),
            changedAt: try row.timestamp("changed_at"))
        environment = try row.get("environment")
        subscriptionKey = try row.get("subscription_key")
        trace = try row.get("trace")
    }

    /// The message to an endpoint; nil if it belongs to another publisher or receives another environment's purchases.
    func message(to endpoint: WebhookEndpoint, _ purchases: CustomerPurchases, at now: Timestamp) -> NewDelivery? {
        guard endpoint.publisher == name.publisher, concerns(endpoint.environment, purchases) else { return nil }
        let shown = purchases.purchases(in: endpoint.environment)
        return NewDelivery(
            endpoint: endpoint.id, publisher: name.publisher, lane: name.username, sequence: version,
            body: body(shown), replaces: true, at: now, trace: trace)
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

    /// The message's body without the password, which ``WebhookBody`` inserts after the type.
    private func body(_ purchases: [CustomerPurchase]) -> String {
        var writer = JSONWriter(capacity: 320 + 420 * purchases.count)
        writer.beginObject()
        writer.member("type", "purchases.updated")
        writer.member("applicationUsername", name.username)
        writer.name("notification")
        writer.beginObject()
        writer.member("reason", reason)
        writer.member("id", UUID().uuidString.lowercased())
        writer.member("date", second: changedAt)
        if let subscriptionKey {
            let platform = StorePlatform(subscriptionKey: subscriptionKey)
            let id = platform.name(ofKey: subscriptionKey)
            let purchase = concerned(purchases)
                .max { ($0.renewedAt ?? .earliest) < ($1.renewedAt ?? .earliest) }
            writer.member("productId", purchase.map { platform.prefixed($0.productID) })
            writer.member("purchaseId", platform.prefixed(id))
            writer.member("transactionId", purchase.map { platform.prefixed($0.transactionID) })
        }
        writer.endObject()
        writer.name("purchases")
        PurchaseJSON.write(purchases, into: &writer)
        writer.endObject()
        return writer.text
    }
}

extension CustomerPurchases {
    fileprivate func purchases(in environment: WebhookEnvironment) -> [CustomerPurchase] {
        switch environment {
        case .all: purchases
        case .production: CustomerPurchase.newest(of: all.filter { !$0.isSandbox })
        case .sandbox: CustomerPurchase.newest(of: all.filter(\.isSandbox))
        }
    }
}
