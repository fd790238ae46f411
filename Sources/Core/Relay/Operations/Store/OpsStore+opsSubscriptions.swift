import Postgres
import RelayCore

extension OpsStore {
    /// - Parameter keys: keys of the page, in order. They have a column `problem` if `problem` names it.
    private static func list(_ keys: SQL, problem: SQL = "NULL::int2") -> SQL {
        """
        WITH k AS MATERIALIZED (\(keys))
        SELECT k.publisher, k.environment, k.subscription_key, ROW(s.sealed_by, s.email) AS email, s.offer_id,
               coalesce(s.validation_bucket, s.bucket) AS bucket, s.accepted_on - DATE 'epoch' AS day, s.id, l.status, l.will_renew,
               coalesce(l.expires_at, s.expires_at) AS expires_at, coalesce(l.product_id, s.product_id) AS product_id,
               l.auto_renew_product_id, l.reason, l.bundle_id, l.due_at, coalesce(q.trouble, l.trouble) AS trouble,
               coalesce(l.parked_at, q.parked_at) AS parked_at, \(problem) AS problem, l.state
        FROM k
        LEFT JOIN ledgers l USING (bucket, publisher, environment, subscription_key)
        LEFT JOIN subscriptions s USING (bucket, publisher, environment, subscription_key)
        LEFT JOIN store_questions q
            ON q.bucket = k.bucket AND q.publisher = k.publisher AND q.environment = \(.text(StoreEnvironment.unknown))
            AND q.subscription_key = k.subscription_key
        ORDER BY k.bucket, k.publisher, k.environment, k.subscription_key
        """
    }

    private static func isAfter(_ cursor: SubscriptionCursor?, in scope: OpsScope) -> SQL {
        let last = cursor?.name
        let bucket = PostgresValue.int2(last.map { Int16($0.bucket.number) })
        return """
            (\(bucket) IS NULL OR (bucket, publisher, environment, subscription_key)
                > (\(bucket), \(.text(last?.publisher)), \(.text(last?.environment)), \(.text(last?.originalTransactionID))))
            AND \(scope.includes("publisher"))
            """
    }

    /// The newest events, purchases and transfers of each subscription: of each kind 1,000 for one subscription, 100 if
    /// there are several. Indexes used: `subscription_events_subscription`, `validations_subscription`, the primary key
    /// of `transfers`.
    private static func timeline(of names: [SubscriptionName]) -> SQL {
        let (table, none): (SQLTable, SQL) = (.subscriptions(names), "ROW(NULL::int4, NULL::text)")
        let most = PostgresValue.int4(names.count > 1 ? 100 : 1_000)
        func isSame(_ row: SQL) -> SQL {
            """
            \(row).bucket = i.bucket AND \(row).subscription_key = i.subscription_key
                  AND \(row).publisher = i.publisher AND \(row).environment = i.environment
            """
        }
        return """
            SELECT i.ordinal, one.*
            FROM \(table, as: "i", ordinal: "ordinal")
            CROSS JOIN LATERAL (
                (SELECT e.said_at AS at, e.recorded_at, e.event, e.detail, e.status, e.expires_at,
                        NULL::int2 AS bucket, NULL::int4 AS day, NULL::uuid AS id, n.bucket AS notification_bucket,
                        n.accepted_on - DATE 'epoch' AS notification_day, n.id AS notification_id, \(none) AS customer,
                        \(none) AS other
                 FROM subscription_events e
                 LEFT JOIN notifications n ON n.bucket = e.bucket AND n.accepted_on = e.accepted_on AND n.id = e.notification
                 WHERE \(isSame("e"))
                 ORDER BY e.recorded_at DESC LIMIT \(most))
                UNION ALL
                (SELECT v.accepted_at, v.accepted_at, 'purchase', NULL, NULL, v.expires_at, v.bucket,
                        v.accepted_on - DATE 'epoch', v.id, NULL, NULL, NULL, ROW(v.sealed_by, v.email), \(none)
                 FROM validations v
                 WHERE \(isSame("v"))
                 ORDER BY v.accepted_at DESC LIMIT \(most))
                UNION ALL
                (SELECT t.at, t.at, 'transferred', NULL, NULL, NULL,
                        t.bucket, t.to_accepted_on - DATE 'epoch', t.to_id, NULL, NULL, NULL,
                        ROW(t.sealed_by, t.from_customer), ROW(t.sealed_by, t.to_customer)
                 FROM transfers t
                 WHERE \(isSame("t"))
                 ORDER BY t.at DESC LIMIT \(most))
            ) AS one
            ORDER BY i.ordinal, one.at, one.recorded_at
            """
    }

    /// A page of subscriptions, each with its timeline.
    public func subscriptions(
        matching filter: SubscriptionFilter, in scope: OpsScope
    ) async throws -> (items: [OpsSubscription], next: SubscriptionCursor?) {
        let limit = PostgresValue.int4(Int32(clamping: filter.limit + 1))
        let isAfter = Self.isAfter(filter.cursor, in: scope)
        let key = PostgresValue.text(filter.originalTransactionID)
        let select: SQL = "SELECT bucket, publisher, environment, subscription_key FROM"
        let keys: SQL
        if filter.isParked {
            // A subscription's question to its store may be parked too. Indexes used: `ledgers_parked`,
            // `store_questions_parked`, the primary key.
            keys = """
                \(select) (
                    SELECT l.bucket, l.publisher, l.environment, l.subscription_key FROM ledgers l WHERE l.parked_at IS NOT NULL
                    UNION
                    SELECT l.bucket, l.publisher, l.environment, l.subscription_key
                    FROM store_questions q
                    JOIN ledgers l ON l.bucket = q.bucket AND l.publisher = q.publisher
                        AND l.environment = ANY (\(.textArray(StoreEnvironment.ofOtherStores)))
                        AND l.subscription_key = q.subscription_key
                    WHERE q.parked_at IS NOT NULL) AS parked
                WHERE (\(key) IS NULL OR subscription_key = \(key)) AND \(isAfter)
                ORDER BY 1, 2, 3, 4 LIMIT \(limit)
                """
        } else if let customer = filter.customer {
            // Index used: `subscriptions_customer`.
            keys = """
                \(select) subscriptions
                WHERE customer = \(.privateText(customer)) AND (\(key) IS NULL OR subscription_key = \(key)) AND \(isAfter)
                ORDER BY 1, 2, 3, 4 LIMIT \(limit)
                """
        } else if let original = filter.originalTransactionID {
            // Index used: the primary keys, in the bucket of each publisher.
            let buckets = relay.publishers.buckets(of: original, try await relay.publishers.ids(in: scope))
            let isOne: SQL = "WHERE bucket = ANY (\(buckets)) AND subscription_key = \(key) AND \(isAfter)"
            keys = """
                \(select) ledgers \(isOne)
                UNION
                \(select) subscriptions \(isOne)
                ORDER BY 1, 2, 3, 4 LIMIT \(limit)
                """
        } else {
            // Index used: the primary keys.
            let inOrder: SQL = """
                WHERE \(isAfter) ORDER BY bucket, publisher, environment, subscription_key LIMIT \(limit)
                """
            keys = """
                (\(select) ledgers \(inOrder))
                UNION
                (\(select) subscriptions \(inOrder))
                ORDER BY 1, 2, 3, 4 LIMIT \(limit)
                """
        }
        return try await page(Self.list(keys), filter.limit)
    }

    /// A page of subscriptions with granted access that may be wrong, each with its timeline.
    ///
    /// - Parameter problem: nil for any problem.
    public func accessProblems(
        _ problem: AccessProblem?, limit: Int, cursor: SubscriptionCursor?, in scope: OpsScope
    ) async throws -> (items: [OpsSubscription], next: SubscriptionCursor?) {
        let most = PostgresValue.int4(Int32(clamping: limit + 1))
        let found = (problem.map { [$0] } ?? AccessProblem.allCases)
            .map { "(\($0.keys(where: Self.isAfter(cursor, in: scope), limit: most)))" as SQL }
            .reduce(nil as SQL?) { all, one in all.map { "\($0) UNION ALL \(one)" } ?? one }
        guard let found else { return ([], nil) }
        // A subscription with two problems is listed once, with the first.
        let keys: SQL =
            "SELECT DISTINCT ON (1, 2, 3, 4) * FROM (\(found)) AS found ORDER BY 1, 2, 3, 4, 5 LIMIT \(most)"
        return try await page(Self.list(keys, problem: "k.problem"), limit)
    }

    private func page(_ sql: SQL, _ limit: Int) async throws -> (items: [OpsSubscription], next: SubscriptionCursor?) {
        let rows = try await database.query(sql)
        var items = try rows.prefix(limit).map(Self.subscription)
        for row in try await database.query(Self.timeline(of: items.map(\.name))) {
            items[try row.get("ordinal", as: Int.self) - 1].timeline.append(try Self.entry(ofSubscription: row))
        }
        let next = rows.count > limit ? items.last.map { SubscriptionCursor($0.name) } : nil
        return (items, next)
    }

    private static func subscription(_ row: PostgresRow) throws -> OpsSubscription {
        let email = try row.open("email", as: EmailAddress?.self)
        return OpsSubscription(
            name: try row.subscriptionName(), email: email, offerID: try row.get("offer_id"),
            validation: email == nil ? nil : try row.validationID(),
            status: try row.get("status", as: Int16?.self).flatMap(SubscriptionState.Status.init),
            willRenew: try row.get("will_renew"), expiresAt: try row.timestampIfSet("expires_at"),
            productID: try row.get("product_id"), autoRenewProductID: try row.get("auto_renew_product_id"),
            reason: try row.get("reason"), bundleID: try row.get("bundle_id"), dueAt: try row.timestampIfSet("due_at"),
            trouble: try row.get("trouble"), parkedAt: try row.timestampIfSet("parked_at"),
            problem: try row.get("problem", as: Int16?.self).flatMap(AccessProblem.init),
            // An unreadable state may be why the ledger is parked. The other columns are shown without it.
            storeOffer: (try? StoredLedger.state(row))?.storeOffer)
    }

    private static func entry(ofSubscription row: PostgresRow) throws -> OpsSubscription.Entry {
        let hasValidation = try row.get("bucket", as: Int16?.self) != nil
        let hasNotification = try row.get("notification_bucket", as: Int16?.self) != nil
        let customers = [try row.open("customer", as: CustomerID?.self), try row.open("other", as: CustomerID?.self)]
            .compactMap(\.self)
        return OpsSubscription.Entry(
            at: try row.timestamp("at"), event: try row.get("event"),
            detail: customers.isEmpty
                ? try row.get("detail", as: String?.self) : customers.map(\.text).joined(separator: " -> "),
            status: try row.get("status", as: Int16?.self).flatMap(SubscriptionState.Status.init),
            expiresAt: try row.timestampIfSet("expires_at"),
            validation: hasValidation ? try row.validationID() : nil,
            notification: hasNotification
                ? try row.validationID(
                    bucket: "notification_bucket", day: "notification_day", id: "notification_id") : nil)
    }
}
