import Postgres
import RelayCore
import Traces

/// Something happened to a customer's purchases. It is written in the transaction in which it happened: the publisher has to be
/// told, and what is kept in memory of that customer is no longer true.
struct CustomerChange: Sendable, Hashable {
    /// As the publisher's webhooks name it.
    enum Reason: String, Sendable {
        case purchased = "PURCHASED"
        case renewed = "RENEWED"
        case expired = "EXPIRED"
        case refunded = "REFUNDED"
        case revoked = "REVOKED"
        case willLapse = "WILL_LAPSE"
        case willAutoRenew = "WILL_AUTO_RENEW"
        case enteredGracePeriod = "ENTERED_GRACE_PERIOD"
        case priceChangeConfirmed = "PRICE_CHANGE_CONFIRMED"
        case receiptValidated = "RECEIPT_VALIDATED"
        case other = "OTHER"
    }

    var customer: CustomerName
    var reason: Reason
    /// What it happened to.
    var subscription: SubscriptionName
    /// In which it happened; see ``StoredTrace``.
    var trace: String? = StoredTrace.current

    /// A newer change of a customer takes the place of an older one that was not told yet; where the two are of different
    /// environments, everybody hears of it. In the order of their keys, as everybody locks them.
    private static let sql = """
        INSERT INTO customers AS c (
            bucket, publisher, username, changed_at, untold_since, reason, environment, subscription_key, trace,
            sealed_by)
        SELECT i.bucket, i.publisher, i.username, clock_timestamp(), clock_timestamp(), i.reason, i.environment,
               i.subscription_key, i.trace, $8
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
             AS i(bucket, publisher, username, reason, environment, subscription_key, trace)
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

    /// - Parameter changes: of several of one customer the first gives the reason.
    static func write(_ changes: [CustomerChange]) -> PostgresQuery {
        var places: [CustomerName: Int] = [:]
        var rows: [(change: CustomerChange, environment: StoreEnvironment?)] = []
        for change in changes {
            if let place = places[change.customer] {
                if rows[place].environment != change.subscription.environment { rows[place].environment = nil }
            } else {
                places[change.customer] = rows.count
                rows.append((change, change.subscription.environment))
            }
        }
        return PostgresQuery(
            sql,
            [
                .int2Array(rows.map { Int16($0.change.customer.bucket.number) }),
                .textArray(rows.map(\.change.customer.publisher)),
                .privateTextArray(rows.map(\.change.customer.username)),
                .textArray(rows.map(\.change.reason.rawValue)), .textArray(rows.map(\.environment)),
                .textArray(rows.map(\.change.subscription.originalTransactionID)), .textArray(rows.map(\.change.trace)),
                .keyOfTexts,
            ])
    }
}
