import Postgres
public import RelayCore
import Traces

extension RelayStore {
    private static let judgedStatus = "CASE WHEN v.status = 0 AND v.deadline <= now() THEN 3 ELSE v.status END"

    private static let filter = """
        ($1::int2 IS NULL OR \(judgedStatus) = $1)
          AND ($2::int8 IS NULL OR v.accepted_at <= now() - $2::int8 * interval '1 microsecond')
          AND ($3::text IS NULL OR v.offer_id = $3)
          AND ($4::timestamptz IS NULL OR (v.accepted_at, v.id) < ($4, $5::uuid))
          AND \(OpsScope.sql("v.publisher", 7))
        """

    /// What is parked of a page, by the primary key of `pursuits`.
    private static func list(_ page: String) -> String {
        """
        SELECT v.*, CASE WHEN p.phase = 2 THEN coalesce(p.parked_at, p.due_at) END,
               CASE WHEN p.phase = 2 THEN coalesce(p.trouble, 'not recorded') END
        FROM (\(page)) AS v(
            bucket, day, id, publisher, app, email, customer, offer_id, status, reason, late, accepted_at, deadline,
            settled_at, expires_at, now)
        LEFT JOIN pursuits p ON p.bucket = v.bucket AND p.id = v.id
        ORDER BY v.accepted_at DESC, v.id DESC
        """
    }

    /// Index used: `validations_newest`, backwards.
    private static let listSQL = list(
        """
        SELECT \(validationColumns), clock_timestamp()
        FROM validations v
        WHERE \(filter)
        ORDER BY v.accepted_at DESC, v.id DESC
        LIMIT $6
        """)

    /// Index used: `validations_customer`.
    private static let customerListSQL = list(
        """
        SELECT \(validationColumns), clock_timestamp()
        FROM validations v
        WHERE v.customer = $8 AND \(filter)
        ORDER BY v.accepted_at DESC, v.id DESC
        LIMIT $6
        """)

    /// One whose validation is gone is shown with what its pursuit knows.
    ///
    /// - Parameters:
    ///   - phases: a condition on `p.phase`.
    ///   - isOldestFirst: else the newest.
    private static func pursued(_ phases: String, isOldestFirst: Bool) -> String {
        """
        SELECT p.bucket, p.accepted_on - DATE 'epoch' AS day, p.id, p.publisher, coalesce(v.app, '') AS app,
               CASE WHEN v.id IS NULL THEN ROW(p.sealed_by, p.customer) ELSE ROW(v.sealed_by, v.email) END AS email,
               ROW(p.sealed_by, p.customer) AS customer, coalesce(v.offer_id, '') AS offer_id,
               coalesce(v.status, 0) AS status, v.reason, coalesce(v.late, false) AS late, p.accepted_at,
               coalesce(v.deadline, p.deadline) AS deadline, v.settled_at, v.expires_at, clock_timestamp() AS now, CASE WHEN p.phase = 2 THEN coalesce(p.parked_at, p.due_at) END,
               coalesce(p.trouble, 'not recorded')
        FROM pursuits p
        LEFT JOIN validations v ON v.bucket = p.bucket AND v.accepted_on = p.accepted_on AND v.id = p.id
        WHERE \(phases)
          AND ($1::int2 IS NULL OR \(judgedStatus) = $1)
          AND ($2::int8 IS NULL OR p.accepted_at <= now() - $2::int8 * interval '1 microsecond')
          AND ($3::text IS NULL OR v.offer_id = $3)
          AND ($4::timestamptz IS NULL OR (p.accepted_at, p.id) \(isOldestFirst ? ">" : "<") ($4, $5::uuid))
          AND \(OpsScope.sql("p.publisher", 7))
          AND ($8::text IS NULL OR p.customer = $8)
        ORDER BY p.accepted_at \(isOldestFirst ? "" : "DESC"), p.id \(isOldestFirst ? "" : "DESC")
        LIMIT $6
        """
    }

    /// Index used: `pursuits_parked`, backwards.
    private static let parkedListSQL = pursued("p.phase = 2", isOldestFirst: false)

    /// Index used: `pursuits_due`, over all that wait.
    private static let waitingListSQL = pursued("p.phase IN (0, 3)", isOldestFirst: true)
    private static let newestWaitingSQL = pursued("p.phase IN (0, 3)", isOldestFirst: false)

    /// Index used: `validations_subscription`, once for each publisher.
    private static let subscriptionListSQL = list(
        """
        SELECT \(validationColumns), clock_timestamp()
        FROM unnest($9::int2[]) AS i(bucket)
        JOIN validations v ON v.bucket = i.bucket AND v.subscription_key = $10
        WHERE ($8::text IS NULL OR v.customer = $8) AND \(filter)
        ORDER BY v.accepted_at DESC, v.id DESC
        LIMIT $6
        """)

    private static let detailSQL = """
        SELECT \(validationColumns), clock_timestamp() AS now, v.app_type, v.coupon_code, v.transaction_id, v.subscription_key,
               v.environment, v.product_id, v.bundle_id, ROW(v.sealed_by, v.application_username), v.receipt_readable,
               coalesce(v.entitled_before, p.entitled_before), coalesce(p.forwards, v.forwards), v.evidence, p.due_at,
               p.owner, CASE WHEN p.phase = 2 THEN coalesce(p.parked_at, p.due_at) END,
               CASE WHEN p.phase = 2 THEN coalesce(p.trouble, 'not recorded') END,
               v.verification, v.verification_code, v.verification_detail, v.driver, v.cleeng_customer, v.trace
        FROM validations v
        LEFT JOIN pursuits p ON p.bucket = v.bucket AND p.id = v.id
        WHERE v.bucket = $1 AND v.accepted_on = DATE 'epoch' + $2::int4 AND v.id = $3
          AND \(OpsScope.sql("v.publisher", 4))
        """

    private static let timelineSQL = """
        SELECT t.at, t.event, t.upstream_status, t.latency_ms, t.instance, t.detail
        FROM timeline t
        WHERE t.bucket = $1 AND t.accepted_on = DATE 'epoch' + $2::int4 AND t.id = $3
        ORDER BY t.fence, t.ordinal
        LIMIT 1000
        """

    private static let transferSQL = """
        SELECT ROW(t.sealed_by, t.from_customer), ROW(t.sealed_by, t.to_customer), t.bucket, t.from_accepted_on - DATE 'epoch', t.from_id,
               t.to_accepted_on - DATE 'epoch', t.to_id, t.at, coalesce(t.from_bucket, t.bucket)
        FROM transfers t
        WHERE t.bucket = $1 AND t.publisher = $2 AND t.subscription_key = $3 AND (t.to_id = $4 OR t.from_id = $4)
        ORDER BY t.at DESC
        LIMIT 1
        """

    private static let countsSQL = """
        SELECT \(judgedStatus), count(*) FROM validations v WHERE \(OpsScope.sql("v.publisher", 1)) GROUP BY 1
        """

    private static let backlogSQL = """
        SELECT count(*) FILTER (WHERE phase IN (0, 3)), count(*) FILTER (WHERE phase IN (1, 4)),
               count(*) FILTER (WHERE phase = 2),
               count(*) FILTER (WHERE phase <> 2 AND due_at < now() - interval '2 seconds'),
               (extract(epoch FROM now() - min(accepted_at) FILTER (WHERE status = 0 AND phase <> 2)) * 1000000)::int8,
               (extract(epoch FROM now() - min(accepted_at) FILTER (WHERE phase IN (0, 3))) * 1000000)::int8,
               (SELECT count(*) FROM customers c WHERE c.untold_since IS NOT NULL AND \(OpsScope.sql("c.publisher", 1))),
               (extract(epoch FROM now() - min(coalesce(parked_at, due_at)) FILTER (WHERE phase = 2)) * 1000000)::int8
        FROM pursuits p
        WHERE \(OpsScope.sql("p.publisher", 1))
        """

    /// A hundred years: older than anything that is kept, and far from what a timestamp cannot hold.
    private static let longestAge = Duration.seconds(3_153_600_000)

    /// A page, in the order of its selection.
    public func validations(
        matching filter: ValidationFilter, in scope: OpsScope
    ) async throws -> (items: [ListedValidation], next: ValidationCursor?) {
        var parameters: [PostgresValue] = [
            .int2(filter.status?.rawValue), .int8(filter.olderThan.map { min($0, Self.longestAge).microseconds }),
            .text(filter.offerID),
            .timestamptz(filter.cursor?.acceptedAt.postgres), .uuid(filter.cursor?.id.uuid),
            .int4(Int32(filter.limit + 1)), scope.parameter,
        ]
        let sql =
            switch filter.selection {
            case .parked: Self.parkedListSQL
            case .waiting: Self.waitingListSQL
            case .waitingNewest: Self.newestWaitingSQL
            case .all where filter.originalTransactionID != nil: Self.subscriptionListSQL
            case .all: filter.customer == nil ? Self.listSQL : Self.customerListSQL
            }
        if let key = filter.originalTransactionID, filter.selection == .all {
            parameters += [
                .privateText(filter.customer), buckets(of: key, try await publishers(in: scope)), .text(key),
            ]
        } else if filter.customer != nil || filter.selection != .all {
            parameters.append(.privateText(filter.customer))
        }
        let rows = try await pool.query(PostgresQuery(sql, parameters)).map { row in
            ListedValidation(validation: try Self.validation(row), parking: try Self.parking(row, 16))
        }
        let page = Array(rows.prefix(filter.limit))
        guard rows.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.validation.acceptedAt, id: last.id))
    }

    private static func parking(_ row: PostgresRow, _ index: Int) throws -> Parking? {
        guard let since = try row.timestampIfSet(index) else { return nil }
        return Parking(since: since, reason: try row.get(index + 1))
    }

    /// One with its timeline. Nil for an unknown id, and for one outside the scope.
    public func detail(_ id: ValidationID, in scope: OpsScope) async throws -> ValidationDetail? {
        guard let row = try await pool.query(PostgresQuery(Self.detailSQL, id.key + [scope.parameter])).first else {
            return nil
        }
        let validation = try Self.validation(row)
        let stored = try Self.stored(row)
        let key = try row.get(19, as: TransactionID.self)
        async let events = pool.query(PostgresQuery(Self.timelineSQL, id.key))
        async let transfers = pool.query(
            PostgresQuery(
                Self.transferSQL,
                [.int2(Int16(id.bucket.number)), .text(validation.publisher), .text(key), .uuid(id.uuid)]))
        var timeline = [
            ValidationDetail.Entry(event: TimelineEvent(at: validation.acceptedAt, kind: .accepted), instance: "")
        ]
        timeline += try await events.map(Self.entry)
        if validation.status != stored.status {
            // Nobody has written so yet, and yet it is so.
            timeline.append(
                .init(
                    event: TimelineEvent(at: validation.deadline, kind: .timedOut, detail: "judged when read"),
                    instance: ""))
        }
        return ValidationDetail(
            validation: validation, appType: try row.get(16), couponCode: try row.get(17),
            transactionID: try row.get(18),
            originalTransactionID: key, environment: try row.get(20), productID: try row.get(21),
            bundleID: try row.get(22), applicationUsername: try row.open(23), isReceiptReadable: try row.get(24),
            verification: try Self.verification(row, 32), driver: try Self.driver(row, 35),
            cleengCustomer: try row.get(36), entitledBefore: try row.get(25), attempts: try row.get(26),
            evidence: try row.get(27),
            nextStepAt: try row.timestampIfSet(28), leaseOwner: try row.get(29), parking: try Self.parking(row, 30),
            transfer: try await transfers.first.map(Self.transfer), traceID: StoredTrace.id(try row.get(37)),
            timeline: timeline)
    }

    private static func driver(_ row: PostgresRow, _ index: Int) throws -> PurchaseDriver {
        let number = try row.get(index, as: Int16.self)
        guard let driver = PurchaseDriver(rawValue: number) else {
            throw StoreError.unknownNumber(column: "driver", number: Int(number))
        }
        return driver
    }

    private static func verification(_ row: PostgresRow, _ index: Int) throws -> Verification {
        let number = try row.get(index, as: Int16.self)
        guard
            let verification = Verification(
                result: number, code: try row.get(index + 1), detail: try row.get(index + 2))
        else { throw StoreError.unknownNumber(column: "verification", number: Int(number)) }
        return verification
    }

    private static func entry(_ row: PostgresRow) throws -> ValidationDetail.Entry {
        let number = try row.get(1, as: Int16.self)
        guard let kind = TimelineEvent.Kind(rawValue: number) else {
            throw StoreError.unknownNumber(column: "event", number: Int(number))
        }
        return ValidationDetail.Entry(
            event: TimelineEvent(
                at: try row.timestamp(0), kind: kind, upstreamStatus: try row.get(2, as: Int16?.self).map { Int($0) },
                latency: try row.get(3, as: Int32?.self).map { .milliseconds(Int($0)) }, detail: try row.get(5)),
            instance: try row.get(4))
    }

    private static func transfer(_ row: PostgresRow) throws -> ValidationDetail.Transfer {
        ValidationDetail.Transfer(
            from: try row.open(0), to: try row.open(1), fromValidation: try row.validationID(bucket: 8, day: 3, id: 4),
            toValidation: try row.validationID(bucket: 2, day: 5, id: 6), at: try row.timestamp(7))
    }

    /// How things stand now.
    ///
    /// - Parameter isCounting: counts every validation that is kept: for people, not for a loop.
    public func summary(isCounting: Bool = true, in scope: OpsScope) async throws -> OpsSummary {
        async let counts = isCounting ? countsByStatus(in: scope) : [:]
        async let workers = workers(in: scope)
        async let missing = missingTables()
        async let notifications = notificationBacklog(in: scope)
        async let webhooks = webhookBacklog(in: scope)
        async let parked = parkedItems(in: scope)
        async let problems = count(AccessProblem.quick, in: scope)
        let (backlog, oldestPending) = try await backlog(in: scope)
        return OpsSummary(
            countsByStatus: try await counts, oldestPending: oldestPending, upstream: try await workers.report,
            workerSeen: try await workers.lastSeen, backlog: backlog,
            notifications: try await notifications, webhooks: try await webhooks, parkedItems: try await parked,
            accessProblems: try await problems, missingTables: try await missing)
    }

    private func countsByStatus(in scope: OpsScope) async throws -> [ValidationStatus: Int] {
        var byStatus: [ValidationStatus: Int] = [:]
        for row in try await pool.query(PostgresQuery(Self.countsSQL, [scope.parameter])) {
            byStatus[try row.status(0)] = try row.get(1)
        }
        return byStatus
    }

    /// What is being pursued: cheap enough to ask at every scrape.
    public func backlog(in scope: OpsScope) async throws -> (OpsSummary.Backlog, oldestPending: Duration?) {
        guard let row = try await pool.query(PostgresQuery(Self.backlogSQL, [scope.parameter])).first else {
            throw StoreError.missingRow("the backlog")
        }
        func age(_ index: Int) throws -> Duration? {
            try row.get(index, as: Int64?.self).map { .microseconds($0) }
        }
        return (
            OpsSummary.Backlog(
                forwarding: try row.get(0), watching: try row.get(1), parked: try row.get(2), overdue: try row.get(3),
                oldestForwarding: try age(5), oldestParked: try age(7), outbox: try row.get(6)),
            try age(4)
        )
    }
}
