import Foundation
import Postgres
import RelayCore

extension CustomerUpdate {
    /// Locks customers whose purchases changed, the longest waiting first. `stored_username` is an expression, so that
    /// it is read as stored. It finds the row even if the name cannot be decrypted. Index used: `customers_untold`.
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
            changedAt: try row.timestamp("changed_at"), environment: try row.get("environment"),
            subscriptionKey: try row.get("subscription_key"), trace: try row.get("trace"))
    }

    /// The message to an endpoint; nil if it does not receive the change.
    func message(to endpoint: WebhookEndpoint, _ purchases: CustomerPurchases, at now: Timestamp) -> NewDelivery? {
        body(to: endpoint.publisher, in: endpoint.environment, purchases, id: UUID().uuidString.lowercased()).map {
            NewDelivery(
                endpoint: endpoint.id, publisher: name.publisher, lane: name.username, sequence: version, body: $0,
                replaces: true, at: now, trace: trace)
        }
    }
}
