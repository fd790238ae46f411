import Postgres
import RelayCore

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

    /// A newer change of a customer takes the place of an older one that was not told yet. Of several in one call the first counts,
    /// in the order of their keys, as everybody locks them.
    private static let sql = """
        INSERT INTO customers AS c (
            bucket, publisher, username, changed_at, untold_since, reason, environment, subscription_key)
        SELECT DISTINCT ON (i.bucket, i.publisher, i.username)
               i.bucket, i.publisher, i.username, clock_timestamp(), clock_timestamp(), i.reason, i.environment,
               i.subscription_key
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
             WITH ORDINALITY AS i(bucket, publisher, username, reason, environment, subscription_key, ordinal)
        ORDER BY i.bucket, i.publisher, i.username, i.ordinal
        ON CONFLICT (bucket, publisher, username) DO UPDATE SET
            changed_at = excluded.changed_at, untold_since = coalesce(c.untold_since, excluded.untold_since),
            reason = excluded.reason, environment = excluded.environment, subscription_key = excluded.subscription_key,
            version = c.version + 1
        """

    static func write(_ changes: [CustomerChange]) -> PostgresQuery {
        PostgresQuery(
            sql,
            [
                .int2Array(changes.map { Int16($0.customer.bucket.number) }),
                .textArray(changes.map(\.customer.publisher)), .textArray(changes.map(\.customer.username)),
                .textArray(changes.map(\.reason.rawValue)), .textArray(changes.map(\.subscription.environment)),
                .textArray(changes.map(\.subscription.originalTransactionID)),
            ])
    }
}
