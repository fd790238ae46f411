import Postgres
import RelayCore

/// What a settlement writes into the ledgers: that Cleeng grants on these subscriptions. The ledger worker hears of them right after.
enum LedgerStatements {
    /// Every grant has a ledger, whatever it rests on, and it is due at once: nothing granted is without somebody who looks again.
    /// Rows are locked in the order of their keys, as everywhere. The owners' rows are held already.
    private static let grantedSQL = """
        INSERT INTO ledgers AS l (
            bucket, publisher, environment, subscription_key, bundle_id, heard_at, granted_at, granted_until, granted_offer, due_at)
        SELECT DISTINCT ON (i.bucket, i.publisher, i.environment, i.subscription_key)
               i.bucket, i.publisher, i.environment, i.subscription_key, v.bundle_id, now(), i.at, i.until, v.offer_id, now()
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[], $8::text[])
             AS i(bucket, day, id, at, until, publisher, environment, subscription_key)
        JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
        ORDER BY i.bucket, i.publisher, i.environment, i.subscription_key, i.at DESC
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
            granted_until = CASE WHEN l.granted_at > excluded.granted_at THEN l.granted_until ELSE excluded.granted_until END,
            granted_offer = CASE WHEN l.granted_at > excluded.granted_at THEN l.granted_offer ELSE excluded.granted_offer END,
            granted_at = greatest(l.granted_at, excluded.granted_at),
            due_at = CASE WHEN l.parked_at IS NULL THEN least(l.due_at, excluded.due_at) END
        """

    /// - Parameter grants: what was granted, and on which subscription.
    static func granted(_ grants: [(write: PursuitWrite, subscription: SubscriptionName)]) -> PostgresQuery {
        let changes = grants.map(\.write.change)
        return PostgresQuery(
            grantedSQL,
            Settlement.keys(grants.map(\.write.claimed.id)) + [
                .timestamptzArray(changes.map { ($0?.observedAt ?? $0?.at)?.postgres }),
                .timestamptzArray(changes.map { $0?.grantedUntil?.postgres }),
                .textArray(grants.map(\.subscription.publisher)), .textArray(grants.map(\.subscription.environment)),
                .textArray(grants.map(\.subscription.originalTransactionID)),
            ])
    }
}
