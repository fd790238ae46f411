import Postgres
import RelayCore

/// Word to a publisher that a customer's purchases changed. A newer change of a customer takes the place of an older one
/// that has not been told yet.
enum Outbox {
    private static let queueSQL = """
        INSERT INTO outbox AS o (bucket, publisher, customer, reason, accepted_on, id, queued_at)
        SELECT DISTINCT ON (i.bucket, i.publisher, i.customer)
               i.bucket, i.publisher, i.customer, i.reason, DATE 'epoch' + i.day, i.id, now()
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::int4[], $6::uuid[])
             WITH ORDINALITY AS i(bucket, publisher, customer, reason, day, id, ordinal)
        ORDER BY i.bucket, i.publisher, i.customer, i.ordinal
        ON CONFLICT (bucket, publisher, customer) DO UPDATE SET
            reason = excluded.reason, accepted_on = excluded.accepted_on, id = excluded.id,
            queued_at = excluded.queued_at, version = o.version + 1
        """

    static func queue(_ granted: [PursuitWrite], transfers: [Ownership.Transfer]) -> PostgresQuery {
        var rows = granted.map { write in
            (
                publisher: write.claimed.publisher, customer: write.claimed.customer, reason: "PURCHASED",
                id: write.claimed.id
            )
        }
        rows += transfers.map { ($0.publisher, $0.fromCustomer, "OTHER", $0.from) }
        return PostgresQuery(
            queueSQL,
            [
                .int2Array(rows.map { Int16(Bucket(of: $0.publisher, $0.customer).number) }),
                .textArray(rows.map(\.publisher)), .textArray(rows.map(\.customer)), .textArray(rows.map(\.reason)),
                .int4Array(rows.map { Int32($0.id.day) }), .uuidArray(rows.map(\.id.uuid)),
            ])
    }
}
