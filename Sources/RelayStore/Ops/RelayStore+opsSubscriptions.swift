import Postgres
import RelayCore

extension RelayStore {
    private static let columns = """
        k.bucket, k.publisher, k.environment, k.subscription_key, ROW(s.sealed_by, s.email), s.offer_id,
        coalesce(s.validation_bucket, s.bucket), s.accepted_on - DATE 'epoch', s.id, l.status, l.will_renew,
        coalesce(l.expires_at, s.expires_at), coalesce(l.product_id, s.product_id), l.auto_renew_product_id, l.reason,
        l.bundle_id, l.due_at, l.trouble, l.parked_at
        """

    private static func list(_ keys: String, problem: String = "NULL::int2") -> String {
        """
        WITH k AS MATERIALIZED (\(keys))
        SELECT \(columns), \(problem)
        FROM k
        LEFT JOIN ledgers l USING (bucket, publisher, environment, subscription_key)
        LEFT JOIN subscriptions s USING (bucket, publisher, environment, subscription_key)
        ORDER BY k.bucket, k.publisher, k.environment, k.subscription_key
        """
    }

    private static let after =
        "($2::int2 IS NULL OR (bucket, publisher, environment, subscription_key) > ($2, $3, $4, $5)) AND \(OpsScope.sql("publisher", 6))"

    /// Index used: the primary keys.
    private static let allSQL = list(
        """
        (SELECT bucket, publisher, environment, subscription_key FROM ledgers WHERE \(after)
         ORDER BY bucket, publisher, environment, subscription_key LIMIT $1)
        UNION
        (SELECT bucket, publisher, environment, subscription_key FROM subscriptions WHERE \(after)
         ORDER BY bucket, publisher, environment, subscription_key LIMIT $1)
        ORDER BY 1, 2, 3, 4 LIMIT $1
        """)

    /// Index used: the primary keys, in the bucket of each publisher.
    private static let keySQL = list(
        """
        SELECT bucket, publisher, environment, subscription_key FROM ledgers
        WHERE bucket = ANY ($7::int2[]) AND subscription_key = $8 AND \(after)
        UNION
        SELECT bucket, publisher, environment, subscription_key FROM subscriptions
        WHERE bucket = ANY ($7::int2[]) AND subscription_key = $8 AND \(after)
        ORDER BY 1, 2, 3, 4 LIMIT $1
        """)

    /// Index used: `ledgers_parked`.
    private static let parkedSQL = list(
        """
        SELECT bucket, publisher, environment, subscription_key FROM ledgers
        WHERE parked_at IS NOT NULL AND ($7::text IS NULL OR subscription_key = $7) AND \(after)
        ORDER BY 1, 2, 3, 4 LIMIT $1
        """)

    /// Index used: `subscriptions_customer`.
    private static let customerSQL = list(
        """
        SELECT bucket, publisher, environment, subscription_key FROM subscriptions
        WHERE customer = $7 AND ($8::text IS NULL OR subscription_key = $8) AND \(after)
        ORDER BY 1, 2, 3, 4 LIMIT $1
        """)

    /// What was said and done, what was bought, and who got it from whom. Indexes used: `subscription_events_subscription`,
    /// `validations_subscription`, the primary key of `transfers`.
    private static let timelineSQL = """
        SELECT * FROM (
            (SELECT i.ordinal, e.said_at AS at, e.recorded_at, e.event, e.detail, e.status, e.expires_at,
                    NULL::int2 AS bucket, NULL::int4 AS day, NULL::uuid AS validation, n.bucket AS n_bucket,
                    n.accepted_on - DATE 'epoch' AS n_day, n.id AS notification, ROW(NULL::int4, NULL::text) AS customer,
                    ROW(NULL::int4, NULL::text) AS other
             FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
                  AS i(bucket, publisher, environment, key, ordinal)
             JOIN subscription_events e ON e.bucket = i.bucket AND e.subscription_key = i.key
                  AND e.publisher = i.publisher AND e.environment = i.environment
             LEFT JOIN notifications n ON n.bucket = e.bucket AND n.accepted_on = e.accepted_on AND n.id = e.notification
             ORDER BY e.recorded_at DESC LIMIT 1000)
            UNION ALL
            (SELECT i.ordinal, v.accepted_at, v.accepted_at, 'purchase', NULL, NULL, v.expires_at, v.bucket,
                    v.accepted_on - DATE 'epoch', v.id, NULL, NULL, NULL, ROW(v.sealed_by, v.email),
                    ROW(NULL::int4, NULL::text)
             FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
                  AS i(bucket, publisher, environment, key, ordinal)
             JOIN validations v ON v.bucket = i.bucket AND v.subscription_key = i.key
                  AND v.publisher = i.publisher AND v.environment = i.environment
             ORDER BY v.accepted_at DESC LIMIT 1000)
            UNION ALL
            (SELECT i.ordinal, t.at, t.at, 'transferred', NULL, NULL, NULL,
                    t.bucket, t.to_accepted_on - DATE 'epoch', t.to_id, NULL, NULL, NULL,
                    ROW(t.sealed_by, t.from_customer), ROW(t.sealed_by, t.to_customer)
             FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
                  AS i(bucket, publisher, environment, key, ordinal)
             JOIN transfers t ON t.bucket = i.bucket AND t.subscription_key = i.key
                  AND t.publisher = i.publisher AND t.environment = i.environment
             ORDER BY t.at DESC LIMIT 1000)
        ) AS all_of_it
        ORDER BY ordinal, at, recorded_at
        """

    /// A page, each with its timeline.
    public func subscriptions(
        matching filter: SubscriptionFilter, in scope: OpsScope
    ) async throws -> (items: [OpsSubscription], next: SubscriptionCursor?) {
        var parameters = Self.pageParameters(filter.limit, filter.cursor, scope)
        let sql: String
        if filter.isParked {
            sql = Self.parkedSQL
            parameters.append(.text(filter.originalTransactionID))
        } else if let customer = filter.customer {
            sql = Self.customerSQL
            parameters += [.privateText(customer), .text(filter.originalTransactionID)]
        } else if let key = filter.originalTransactionID {
            sql = Self.keySQL
            parameters += [buckets(of: key, try await publishers(in: scope)), .text(key)]
        } else {
            sql = Self.allSQL
        }
        return try await page(PostgresQuery(sql, parameters), filter.limit)
    }

    /// A page of subscriptions with granted access that may be wrong, each with its timeline.
    ///
    /// - Parameter problem: nil for any.
    public func accessProblems(
        _ problem: AccessProblem?, limit: Int, cursor: SubscriptionCursor?, in scope: OpsScope
    ) async throws -> (items: [OpsSubscription], next: SubscriptionCursor?) {
        let problems = problem.map { [$0] } ?? AccessProblem.allCases
        let keys = problems.map { "(\($0.sql(where: Self.after)))" }.joined(separator: " UNION ALL ")
        // A subscription with two problems is listed once, with the first.
        let sql = Self.list(
            """
            SELECT DISTINCT ON (1, 2, 3, 4) * FROM (\(keys)) AS found ORDER BY 1, 2, 3, 4, 5 LIMIT $1
            """, problem: "k.problem")
        return try await page(PostgresQuery(sql, Self.pageParameters(limit, cursor, scope)), limit)
    }

    private static func pageParameters(_ limit: Int, _ cursor: SubscriptionCursor?, _ scope: OpsScope)
        -> [PostgresValue]
    {
        let after = cursor?.name
        return [
            .int4(Int32(clamping: limit + 1)), .int2(after.map { Int16($0.bucket.number) }),
            .text(after?.publisher), .text(after?.environment), .text(after?.originalTransactionID),
            scope.parameter,
        ]
    }

    private func page(
        _ query: PostgresQuery, _ limit: Int
    ) async throws -> (items: [OpsSubscription], next: SubscriptionCursor?) {
        let rows = try await pool.query(query)
        var items = try rows.prefix(limit).map(Self.subscription)
        for row in try await pool.query(
            PostgresQuery(Self.timelineSQL, LedgerHearing.keys(items.map(\.name))))
        {
            items[try row.get(0, as: Int.self) - 1].timeline.append(try Self.entry(row))
        }
        let next = rows.count > limit ? items.last.map { SubscriptionCursor($0.name) } : nil
        return (items, next)
    }

    private static func subscription(_ row: PostgresRow) throws -> OpsSubscription {
        let email = try row.open(4, as: EmailAddress?.self)
        return OpsSubscription(
            name: SubscriptionName(
                publisher: try row.get(1), environment: try row.get(2), originalTransactionID: try row.get(3)),
            email: email, offerID: try row.get(5),
            validation: email == nil ? nil : try row.validationID(bucket: 6, day: 7, id: 8),
            status: try row.get(9, as: Int16?.self).flatMap(SubscriptionStanding.Status.init),
            willRenew: try row.get(10), expiresAt: try row.timestampIfSet(11), productID: try row.get(12),
            autoRenewProductID: try row.get(13), reason: try row.get(14), bundleID: try row.get(15),
            dueAt: try row.timestampIfSet(16), trouble: try row.get(17),
            parkedAt: try row.timestampIfSet(18),
            problem: try row.get(19, as: Int16?.self).flatMap(AccessProblem.init))
    }

    private static func entry(_ row: PostgresRow) throws -> OpsSubscription.Entry {
        let hasValidation = try row.get(7, as: Int16?.self) != nil
        let hasNotification = try row.get(10, as: Int16?.self) != nil
        let customers = [try row.open(13, as: CustomerID?.self), try row.open(14, as: CustomerID?.self)].compactMap(
            \.self)
        return OpsSubscription.Entry(
            at: try row.timestamp(1), event: try row.get(3),
            detail: customers.isEmpty
                ? try row.get(4, as: String?.self) : customers.map(\.text).joined(separator: " -> "),
            status: try row.get(5, as: Int16?.self).flatMap(SubscriptionStanding.Status.init),
            expiresAt: try row.timestampIfSet(6),
            validation: hasValidation ? try row.validationID(bucket: 7, day: 8, id: 9) : nil,
            notification: hasNotification ? try row.validationID(bucket: 10, day: 11, id: 12) : nil)
    }
}
