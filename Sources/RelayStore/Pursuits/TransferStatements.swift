import Postgres
import RelayCore

/// The other side of a transfer: the old owner's end, and the record of it.
enum TransferStatements {
    private static let recordSQL = """
        INSERT INTO transfers (
            bucket, publisher, environment, subscription_key, to_id, to_accepted_on, from_id, from_accepted_on,
            from_customer, to_customer, from_bucket, at, sealed_by)
        SELECT i.bucket, i.publisher, i.environment, i.subscription_key, i.to_id, DATE 'epoch' + i.to_day, i.from_id,
               DATE 'epoch' + i.from_day, i.from_customer, i.to_customer, i.from_bucket, now(), $12
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::int4[], $7::uuid[], $8::int4[],
                    $9::text[], $10::text[], $11::int2[])
             AS i(bucket, publisher, environment, subscription_key, to_id, to_day, from_id, from_day, from_customer,
                  to_customer, from_bucket)
        """

    /// Everything granted on this subscription to anybody else is over, what was taken back before the transfer was heard of
    /// included, and what made the old owner, wherever it is: a
    /// subscription may have had another id then. Indexes used: `validations_subscription`, the primary key.
    private static let endSQL = """
        WITH i AS MATERIALIZED (
            SELECT * FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::text[], $7::int2[], $8::int4[],
                                 $9::uuid[])
                AS i(bucket, publisher, environment, subscription_key, to_customer, from_bucket, from_day, from_id)
        ), others AS MATERIALIZED (
            SELECT v.bucket, v.accepted_on, v.id
            FROM i
            JOIN validations v ON v.bucket = i.bucket AND v.subscription_key = i.subscription_key
                 AND v.publisher = i.publisher AND v.environment = i.environment
            WHERE v.customer <> i.to_customer AND (v.status IN (1, 5) OR v.owner_no IS NOT NULL)
            UNION
            -- Under the ids that it went by before.
            SELECT v.bucket, v.accepted_on, v.id
            FROM i
            JOIN ledgers l ON l.bucket = i.bucket AND l.publisher = i.publisher AND l.environment = i.environment
                 AND l.subscription_key = i.subscription_key
            CROSS JOIN LATERAL unnest(string_to_array(l.predecessors, ' ')) AS p(name)
            JOIN validations v ON v.bucket = split_part(p.name, ':', 1)::int2
                 AND v.subscription_key = substr(p.name, strpos(p.name, ':') + 1)
                 AND v.publisher = i.publisher AND v.environment = i.environment
            WHERE v.customer <> i.to_customer AND (v.status IN (1, 5) OR v.owner_no IS NOT NULL)
            UNION
            SELECT i.from_bucket, DATE 'epoch' + i.from_day, i.from_id FROM i
        ), numbered AS (
            -- What a copy of the version before has ended still has its number.
            UPDATE validations v
            SET owner_no = NULL
            FROM others o
            WHERE v.bucket = o.bucket AND v.accepted_on = o.accepted_on AND v.id = o.id AND v.status NOT IN (1, 5)
              AND v.owner_no IS NOT NULL
        ), ended AS (
            UPDATE validations v
            SET status = 4, settled_at = now(), reason = 'transferred', owner_no = NULL
            FROM others o
            WHERE v.bucket = o.bucket AND v.accepted_on = o.accepted_on AND v.id = o.id AND v.status IN (1, 5)
            RETURNING v.*
        ), told AS (
            INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, event, instance, detail)
            SELECT e.bucket, e.accepted_on, e.id,
                   1 + coalesce((SELECT max(t.fence) FROM timeline t
                                 WHERE t.bucket = e.bucket AND t.accepted_on = e.accepted_on AND t.id = e.id), 0),
                   0, now(), 4, $6, 'the subscription was granted to another email'
            FROM ended e
        ), over AS (
            UPDATE purchases p
            SET status = 4
            FROM ended e
            WHERE p.bucket = get_byte(e.purchase_key, 0) AND p.key = e.purchase_key AND p.id = e.id
        )
        SELECT \(RelayStore.validationColumns) FROM ended v
        """

    /// The last one answers with the validations that ended.
    static func queries(_ transfers: [Ownership.Transfer], instance: String) -> [PostgresQuery] {
        func texts<Kind: PlainName>(_ value: (Ownership.Transfer) -> Identifier<Kind>) -> PostgresValue {
            .textArray(transfers.map(value))
        }
        func names(_ value: (Ownership.Transfer) -> CustomerID) -> PostgresValue {
            .privateTextArray(transfers.map(value))
        }
        let buckets = PostgresValue.int2Array(
            transfers.map { Int16(Bucket(of: $0.publisher, $0.subscriptionKey).number) })
        return [
            PostgresQuery(
                recordSQL,
                [
                    buckets, texts(\.publisher), texts(\.environment), texts(\.subscriptionKey),
                    .uuidArray(transfers.map(\.to.uuid)), .int4Array(transfers.map { Int32($0.to.day) }),
                    .uuidArray(transfers.map(\.from.uuid)), .int4Array(transfers.map { Int32($0.from.day) }),
                    names(\.fromCustomer), names(\.toCustomer),
                    .int2Array(transfers.map { Int16($0.from.bucket.number) }), .keyOfTexts,
                ]),
            PostgresQuery(
                endSQL,
                [
                    buckets, texts(\.publisher), texts(\.environment), texts(\.subscriptionKey), names(\.toCustomer),
                    .text(instance), .int2Array(transfers.map { Int16($0.from.bucket.number) }),
                    .int4Array(transfers.map { Int32($0.from.day) }), .uuidArray(transfers.map(\.from.uuid)),
                ]),
        ]
    }
}
