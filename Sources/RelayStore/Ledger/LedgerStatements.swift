import Postgres
import RelayCore

/// What a settlement tells the ledgers: that Cleeng grants on these subscriptions. They are heard by themselves, right after.
enum LedgerStatements {
    /// In the order of their keys, as everybody locks them. The owners' rows are held already.
    private static let grantedSQL = """
        INSERT INTO ledgers AS l (
            bucket, publisher, environment, subscription_key, bundle_id, heard_at, granted_at, due_at)
        SELECT DISTINCT ON (v.bucket, v.publisher, v.environment, v.subscription_key)
               v.bucket, v.publisher, v.environment, v.subscription_key, v.bundle_id, now(), i.at, now()
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::timestamptz[]) AS i(bucket, day, id, at)
        JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
        WHERE v.period IS NOT NULL OR v.driver IN (\(PurchaseDriver.google.rawValue), \(PurchaseDriver.amazon.rawValue))
        ORDER BY v.bucket, v.publisher, v.environment, v.subscription_key, i.at DESC
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
            granted_at = greatest(l.granted_at, excluded.granted_at),
            due_at = CASE WHEN l.parked_at IS NULL THEN least(l.due_at, excluded.due_at) END
        """

    static func granted(_ writes: [PursuitWrite]) -> PostgresQuery {
        PostgresQuery(
            grantedSQL,
            Settlement.keys(writes.map(\.claimed.id)) + [
                .timestamptzArray(writes.map { ($0.change?.observedAt ?? $0.change?.at)?.postgres })
            ])
    }
}
