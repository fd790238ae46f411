import Postgres
import RelayCore

/// A transfer's statements for the old owner: they end its grants and record the transfer.
enum TransferStatements {
    /// The last statement returns the ended validations.
    static func queries(_ transfers: [Ownership.Transfer], instance: String) -> [SQL] {
        let subscriptions = SQLTable.subscriptions(transfers.map(\.subscription))
        let customers: SQLTable = ["to_customer": .privateTextArray(transfers.map(\.toCustomer))]
        let from: SQLTable = [
            "from_bucket": .int2Array(transfers.map { Int16($0.from.bucket.number) }),
            "from_day": .int4Array(transfers.map { Int32($0.from.day) }),
            "from_id": .uuidArray(transfers.map(\.from.uuid)),
        ]
        let record: SQLTable = [
            "to_id": .uuidArray(transfers.map(\.to.uuid)), "to_day": .int4Array(transfers.map { Int32($0.to.day) }),
            "from_customer": .privateTextArray(transfers.map(\.fromCustomer)),
        ]
        return [
            Self.record(subscriptions + customers + from + record),
            end(subscriptions + customers + from, instance: instance),
        ]
    }

    /// Records a transfer once. Stores name a former id in each later statement, so the same transfer comes again.
    private static func record(_ transfers: SQLTable) -> SQL {
        """
        INSERT INTO transfers (
            bucket, publisher, environment, subscription_key, to_id, to_accepted_on, from_id, from_accepted_on,
            from_customer, to_customer, from_bucket, at, sealed_by)
        SELECT i.bucket, i.publisher, i.environment, i.subscription_key, i.to_id, DATE 'epoch' + i.to_day, i.from_id,
               DATE 'epoch' + i.from_day, i.from_customer, i.to_customer, i.from_bucket, now(), \(.keyOfTexts)
        FROM \(transfers, as: "i")
        ON CONFLICT (bucket, publisher, environment, subscription_key, to_id) DO NOTHING
        """
    }

    /// Ends all grants of this subscription to other customers, even those that were revoked before the transfer was
    /// known. Also ends the validation that made the old owner, which may have another subscription id. Indexes used:
    /// `validations_subscription`, the primary key.
    private static func end(_ transfers: SQLTable, instance: String) -> SQL {
        let noted = TimelineStatement.insert(
            unheld: "ended", event: "\(TimelineEvent.Kind.transferred)",
            detail: "'the subscription was granted to another email'", instance: instance)
        return """
            WITH i AS MATERIALIZED (
                SELECT * FROM \(transfers, as: "i")
            ), others AS MATERIALIZED (
                SELECT v.bucket, v.accepted_on, v.id
                FROM i
                JOIN validations v ON v.bucket = i.bucket AND v.subscription_key = i.subscription_key
                     AND v.publisher = i.publisher AND v.environment = i.environment
                WHERE v.customer <> i.to_customer AND (\(Validation.wasGranted) OR v.owner_no IS NOT NULL)
                UNION
                -- Under the ids that it went by before.
                SELECT v.bucket, v.accepted_on, v.id
                FROM i
                JOIN ledgers l ON \(.sameSubscription("l", "i"))
                CROSS JOIN LATERAL unnest(string_to_array(l.predecessors, ' ')) AS p(name)
                JOIN validations v ON v.bucket = split_part(p.name, ':', 1)::int2
                     AND v.subscription_key = substr(p.name, strpos(p.name, ':') + 1)
                     AND v.publisher = i.publisher AND v.environment = i.environment
                WHERE v.customer <> i.to_customer AND (\(Validation.wasGranted) OR v.owner_no IS NOT NULL)
                UNION
                SELECT i.from_bucket, DATE 'epoch' + i.from_day, i.from_id FROM i
            ), numbered AS (
                -- What a copy of the version before has ended still has its number.
                UPDATE validations v
                SET owner_no = NULL
                FROM others o
                WHERE v.bucket = o.bucket AND v.accepted_on = o.accepted_on AND v.id = o.id
                  AND v.status NOT IN \([ValidationStatus.granted, .revoked]) AND v.owner_no IS NOT NULL
            ), ended AS (
                UPDATE validations v
                SET status = \(ValidationStatus.transferred), settled_at = now(), reason = 'transferred', owner_no = NULL
                FROM others o
                WHERE v.bucket = o.bucket AND v.accepted_on = o.accepted_on AND v.id = o.id AND \(Validation.wasGranted)
                RETURNING v.*
            ), noted AS (
                \(noted)
            ), over AS (
                UPDATE purchases p
                SET status = \(ValidationStatus.transferred)
                FROM ended e
                WHERE p.bucket = get_byte(e.purchase_key, 0) AND p.key = e.purchase_key AND p.id = e.id
            )
            SELECT \(Validation.columns) FROM ended v
            """
    }
}
