import Postgres
import RelayCore
import Traces

extension CustomerChange {
    /// A change made by the present transaction; see ``StoredTrace``.
    init(customer: CustomerName, reason: Reason, subscription: SubscriptionName) {
        self.init(customer: customer, reason: reason, subscription: subscription, trace: StoredTrace.current)
    }

    /// Writes changes in key order, the lock order of every writer. A change replaces an older one that the publisher
    /// was not notified of. If their environments differ, endpoints of both are notified.
    static func write(_ changes: [CustomerChange]) -> SQL {
        let rows = merged(changes)
        let table: SQLTable =
            SQLTable.customers(rows.map(\.change.customer)) + [
                "reason": .textArray(rows.map(\.change.reason.rawValue)),
                "environment": .textArray(rows.map(\.environment)),
                "subscription_key": .textArray(rows.map(\.change.subscription.originalTransactionID)),
                "trace": .textArray(rows.map(\.change.trace)),
            ]
        return """
            INSERT INTO customers AS c (
                bucket, publisher, username, changed_at, untold_since, reason, environment, subscription_key, trace,
                sealed_by)
            SELECT i.bucket, i.publisher, i.username, clock_timestamp(), clock_timestamp(), i.reason, i.environment,
                   i.subscription_key, i.trace, \(.keyOfTexts)
            FROM \(table, as: "i")
            ORDER BY i.bucket, i.publisher, i.username
            ON CONFLICT (bucket, publisher, username) DO UPDATE SET
                changed_at = excluded.changed_at, untold_since = coalesce(c.untold_since, excluded.untold_since),
                environment = CASE WHEN c.untold_since IS NULL OR c.environment = excluded.environment
                                   THEN excluded.environment END,
                reason = CASE WHEN c.untold_since IS NOT NULL AND c.reason = 'PURCHASED' AND excluded.reason = 'OTHER'
                                   AND c.subscription_key = excluded.subscription_key
                              THEN c.reason ELSE excluded.reason END,
                subscription_key = excluded.subscription_key, trace = excluded.trace, version = c.version + 1
            """
    }
}
