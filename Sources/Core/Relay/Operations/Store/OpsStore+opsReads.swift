import Formats
import Postgres
import RelayCore

extension OpsStore {
    /// Status of `validations v` at the time of the statement.
    static let judgedStatus: SQL = """
        CASE WHEN v.status = \(ValidationStatus.pending) AND v.deadline <= now() THEN \(ValidationStatus.timedOut) ELSE v.status END
        """

    /// Time and reason of parking in `pursuits p`.
    static let parkedSince: SQL =
        "CASE WHEN p.phase = \(Pursuit.Phase.parked) THEN coalesce(p.parked_at, p.due_at) END"
    static let parkedReason: SQL =
        "CASE WHEN p.phase = \(Pursuit.Phase.parked) THEN coalesce(p.trouble, 'not recorded') END"

    /// A hundred years: older than any stored row, and safely within the range of a timestamp.
    private static let longestAge = Duration.seconds(3_153_600_000)

    /// A filter's condition on `validations v`, without customer and subscription.
    ///
    /// - Parameters:
    ///   - row: row with the columns of acceptance and publisher.
    ///   - comparison: operator that compares a row with the cursor.
    private static func condition(
        _ filter: ValidationFilter, in scope: OpsScope, row: SQL = "v", comparison: SQL = "<"
    ) -> SQL {
        let status = PostgresValue.int2(filter.status?.rawValue)
        let age = PostgresValue.int8(filter.olderThan.map { min($0, Self.longestAge).microseconds })
        let offer = PostgresValue.text(filter.offerID)
        let acceptedAt = PostgresValue.timestamptz(filter.cursor?.acceptedAt.postgres)
        return """
            (\(status) IS NULL OR \(judgedStatus) = \(status))
              AND (\(age) IS NULL OR \(row).accepted_at <= now() - \(age) * interval '1 microsecond')
              AND (\(offer) IS NULL OR v.offer_id = \(offer))
              AND (\(acceptedAt) IS NULL
                   OR (\(row).accepted_at, \(row).id) \(comparison) (\(acceptedAt), \(.uuid(filter.cursor?.id.uuid))))
              AND \(scope.includes("\(row).publisher"))
            """
    }

    /// - Parameter source: tables and the beginning of the condition. The parked pursuits of the page are read by the
    ///   primary key of `pursuits`.
    private static func list(_ source: SQL, _ filter: ValidationFilter, in scope: OpsScope) -> SQL {
        """
        SELECT v.*, \(parkedSince) AS parked_since, \(parkedReason) AS parked_reason
        FROM (
            SELECT \(Validation.columns), clock_timestamp()
            FROM \(source) \(condition(filter, in: scope))
            ORDER BY v.accepted_at DESC, v.id DESC
            LIMIT \(.int4(Int32(filter.limit + 1)))
        ) AS v(
            bucket, day, id, publisher, app, email, customer, offer_id, status, reason, late, accepted_at, deadline,
            settled_at, expires_at, now)
        LEFT JOIN pursuits p ON p.bucket = v.bucket AND p.id = v.id
        ORDER BY v.accepted_at DESC, v.id DESC
        """
    }

    /// Lists pursuits with their validations. A pursuit without a validation is listed with its own columns.
    ///
    /// - Parameters:
    ///   - isInPhase: condition on `p.phase`.
    ///   - isOldestFirst: false lists the newest first.
    private static func pursued(
        _ isInPhase: SQL, isOldestFirst: Bool, _ filter: ValidationFilter, in scope: OpsScope
    ) -> SQL {
        let (comparison, order): (SQL, SQL) = isOldestFirst ? (">", "") : ("<", "DESC")
        let customer = PostgresValue.privateText(filter.customer)
        return """
            SELECT p.bucket, p.accepted_on - DATE 'epoch' AS day, p.id, p.publisher, coalesce(v.app, '') AS app,
                   CASE WHEN v.id IS NULL THEN ROW(p.sealed_by, p.customer) ELSE ROW(v.sealed_by, v.email) END AS email,
                   ROW(p.sealed_by, p.customer) AS customer, coalesce(v.offer_id, '') AS offer_id,
                   coalesce(v.status, \(ValidationStatus.pending)) AS status, v.reason, coalesce(v.late, false) AS late,
                   p.accepted_at, coalesce(v.deadline, p.deadline) AS deadline, v.settled_at, v.expires_at,
                   clock_timestamp() AS now, \(parkedSince) AS parked_since,
                   coalesce(p.trouble, 'not recorded') AS parked_reason
            FROM pursuits p
            LEFT JOIN validations v ON v.bucket = p.bucket AND v.accepted_on = p.accepted_on AND v.id = p.id
            WHERE \(isInPhase)
              AND \(condition(filter, in: scope, row: "p", comparison: comparison))
              AND (\(customer) IS NULL OR p.customer = \(customer))
            ORDER BY p.accepted_at \(order), p.id \(order)
            LIMIT \(.int4(Int32(filter.limit + 1)))
            """
    }

    /// A page of validations, in the order of its selection.
    public func validations(
        matching filter: ValidationFilter, in scope: OpsScope
    ) async throws -> (items: [ListedValidation], next: ValidationCursor?) {
        let isUnsent: SQL = "p.phase IN \(Pursuit.Phase.unsent)"
        let customer = PostgresValue.privateText(filter.customer)
        let sql: SQL
        switch filter.selection {
        case .parked:
            // Index used: `pursuits_parked`, backwards.
            sql = Self.pursued("p.phase = \(Pursuit.Phase.parked)", isOldestFirst: false, filter, in: scope)
        case .waiting:
            // Index used: `pursuits_due`, for all waiting pursuits.
            sql = Self.pursued(isUnsent, isOldestFirst: true, filter, in: scope)
        case .waitingNewest: sql = Self.pursued(isUnsent, isOldestFirst: false, filter, in: scope)
        case .all:
            if let key = filter.originalTransactionID {
                // Index used: `validations_subscription`, once for each publisher.
                let buckets: SQLTable = [
                    "bucket": relay.publishers.buckets(of: key, try await relay.publishers.ids(in: scope))
                ]
                sql = Self.list(
                    """
                    \(buckets, as: "i")
                    JOIN validations v ON v.bucket = i.bucket AND v.subscription_key = \(.text(key))
                    WHERE (\(customer) IS NULL OR v.customer = \(customer)) AND
                    """, filter, in: scope)
            } else if filter.customer != nil {
                // Index used: `validations_customer`.
                sql = Self.list("validations v WHERE v.customer = \(customer) AND", filter, in: scope)
            } else {
                // Index used: `validations_newest`, backwards.
                sql = Self.list("validations v WHERE", filter, in: scope)
            }
        }
        let rows = try await database.query(sql).map { row in
            ListedValidation(validation: try PurchaseStore.validation(row), parking: try Self.parking(row))
        }
        let page = Array(rows.prefix(filter.limit))
        guard rows.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.validation.acceptedAt, id: last.id))
    }

    static func parking(_ row: PostgresRow) throws -> Parking? {
        guard let since = try row.timestampIfSet("parked_since") else { return nil }
        return Parking(since: since, reason: try row.get("parked_reason"))
    }

    /// Summary of the present state.
    ///
    /// - Parameter isCounting: also counts all stored validations, which is too slow for repeated calls.
    public func summary(isCounting: Bool = true, in scope: OpsScope) async throws -> OpsSummary {
        async let counts = isCounting ? countsByStatus(in: scope) : [:]
        async let workers = relay.instances.workers(in: scope)
        async let missing = relay.schema.missingTables()
        async let notifications = relay.notifications.backlog(in: scope)
        async let webhooks = relay.webhooks.backlog(in: scope)
        async let parked = relay.queues.parked(in: scope)
        async let consumption = relay.consumption.backlog(in: scope)
        async let stores = relay.questions.health(in: scope)
        async let problems = count(AccessProblem.quick, in: scope)
        let (backlog, oldestPending) = try await backlog(in: scope)
        return OpsSummary(
            countsByStatus: try await counts, oldestPending: oldestPending, upstream: try await workers.report,
            workerSeen: try await workers.lastSeen, backlog: backlog,
            notifications: try await notifications, webhooks: try await webhooks, parkedItems: try await parked,
            stores: try await stores, consumption: try await consumption,
            accessProblems: try await problems, missingTables: try await missing)
    }

    private func countsByStatus(in scope: OpsScope) async throws -> [ValidationStatus: Int] {
        var byStatus: [ValidationStatus: Int] = [:]
        let rows = try await database.query(
            """
            SELECT (\(Self.judgedStatus))::int2 AS status, count(*) AS count
            FROM validations v WHERE \(scope.includes("v.publisher")) GROUP BY 1
            """)
        for row in rows { byStatus[try row.constant("status")] = try row.get("count") }
        return byStatus
    }

    /// Counts of running pursuits. Cheap enough for every scrape.
    public func backlog(in scope: OpsScope) async throws -> (OpsSummary.Backlog, oldestPending: Duration?) {
        let isUnsent: SQL = "phase IN \(Pursuit.Phase.unsent)"
        let isParked: SQL = "phase = \(Pursuit.Phase.parked)"
        func age(of oldest: SQL) -> SQL { "(extract(epoch FROM now() - \(oldest)) * 1000000)::int8" }
        let rows = try await database.query(
            """
            SELECT count(*) FILTER (WHERE \(isUnsent)) AS forwarding,
                   count(*) FILTER (WHERE phase IN \(Pursuit.Phase.taken)) AS watching,
                   count(*) FILTER (WHERE \(isParked)) AS parked,
                   count(*) FILTER (WHERE NOT \(isParked) AND due_at < now() - interval '2 seconds') AS overdue,
                   \(age(of: "min(accepted_at) FILTER (WHERE status = \(ValidationStatus.pending) AND NOT \(isParked))")) AS pending_age,
                   \(age(of: "min(accepted_at) FILTER (WHERE \(isUnsent))")) AS forwarding_age,
                   (SELECT count(*) FROM customers c WHERE c.untold_since IS NOT NULL AND \(scope.includes("c.publisher"))) AS outbox,
                   \(age(of: "min(coalesce(parked_at, due_at)) FILTER (WHERE \(isParked))")) AS parked_age
            FROM pursuits p
            WHERE \(scope.includes("p.publisher"))
            """)
        guard let row = rows.first else { throw StoreError.missingRow("the backlog") }
        func age(_ column: StaticString) throws -> Duration? {
            try row.get(column, as: Int64?.self).map { .microseconds($0) }
        }
        return (
            OpsSummary.Backlog(
                forwarding: try row.get("forwarding"), watching: try row.get("watching"),
                parked: try row.get("parked"), overdue: try row.get("overdue"),
                oldestForwarding: try age("forwarding_age"), oldestParked: try age("parked_age"),
                outbox: try row.get("outbox")),
            try age("pending_age")
        )
    }
}
