import Postgres
public import RelayCore

extension WebhookStore {
    /// The queue holds the tries and the next try of waiting messages.
    private static let deliveryColumns: SQL = """
        d.bucket, d.accepted_on - DATE 'epoch' AS day, d.id, d.endpoint, coalesce(e.url, '') AS url, d.publisher,
        ROW(d.sealed_by, d.lane) AS lane, (\(deliveryState))::int2 AS state, coalesce(q.tries, d.tries) AS tries,
        d.last_status, coalesce(q.trouble, d.last_error) AS last_error, d.created_at, d.finished_at,
        CASE WHEN q.owner IS NULL AND q.parked_at IS NULL THEN q.due_at END AS next_try_at
        """

    private static let deliveryState: SQL =
        "CASE WHEN q.parked_at IS NOT NULL THEN \(DeliveryState.parked) ELSE d.state END"

    private static let deliveries: SQL = """
        SELECT \(deliveryColumns)
        FROM webhook_deliveries d
        LEFT JOIN webhook_endpoints e ON e.id = d.endpoint
        LEFT JOIN webhook_queue q ON q.bucket = d.bucket AND q.id = d.id
        """

    /// The queue holds only waiting and parked messages. Index used: the deliveries' primary key.
    private static let queuedDeliveries: SQL = """
        SELECT \(deliveryColumns)
        FROM webhook_queue q
        JOIN webhook_deliveries d ON d.bucket = q.bucket AND d.accepted_on = q.accepted_on AND d.id = q.id
        LEFT JOIN webhook_endpoints e ON e.id = d.endpoint
        """

    /// A page, newest first. Indexes used: `webhook_deliveries_lane` for a customer, else backwards
    /// `webhook_deliveries_newest` or `webhook_deliveries_failed`.
    public func deliveries(
        matching filter: DeliveryFilter, in scope: OpsScope
    ) async throws -> (items: [OpsDelivery], next: ValidationCursor?) {
        let rows: SQL
        if let username = filter.applicationUsername {
            let buckets = relay.publishers.buckets(of: username, try await relay.publishers.ids(in: scope))
            rows = "\(Self.deliveries) WHERE d.bucket = ANY (\(buckets)) AND d.lane = \(.privateText(username))"
        } else {
            rows =
                switch filter.state {
                case .waiting, .parked: "\(Self.queuedDeliveries) WHERE true"
                case .failed: "\(Self.deliveries) WHERE d.failed_at IS NOT NULL"
                default: "\(Self.deliveries) WHERE true"
                }
        }
        let (state, endpoint) = (PostgresValue.int2(filter.state?.rawValue), filter.endpoint?.description)
        let before = PostgresValue.timestamptz(filter.cursor?.acceptedAt.postgres)
        let found = try await database.query(
            """
            \(rows)
              AND (\(state) IS NULL OR \(Self.deliveryState) = \(state))
              AND (\(before) IS NULL OR (d.created_at, d.id) < (\(before), \(.uuid(filter.cursor?.id.uuid))))
              AND (\(.text(endpoint)) IS NULL OR d.endpoint = \(.text(endpoint)))
              AND \(scope.includes("d.publisher"))
            ORDER BY d.created_at DESC, d.id DESC
            LIMIT \(.int4(Int32(clamping: filter.limit + 1)))
            """)
        let page = try found.prefix(filter.limit).map(Self.delivery)
        guard found.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.createdAt, id: last.id))
    }

    /// Nil for an unknown id, or one outside the scope.
    public func delivery(_ id: DeliveryID, in scope: OpsScope) async throws -> OpsDelivery? {
        try await database.query(
            """
            \(Self.deliveries)
            WHERE d.bucket = \(.int2(Int16(id.bucket.number))) AND d.accepted_on = DATE 'epoch' + \(.int4(Int32(id.day)))
              AND d.id = \(.uuid(id.uuid)) AND \(scope.includes("d.publisher"))
            """
        ).first.map(Self.delivery)
    }

    /// Queues a notice again, as a new message to the same endpoint.
    ///
    /// - Returns: the new message; nil if the id is not a notice's, or is outside the scope.
    public func repeatNotice(_ id: DeliveryID, in scope: OpsScope) async throws -> DeliveryID? {
        let found = try await database.query(
            """
            SELECT d.endpoint, d.publisher, ROW(d.sealed_by, d.body) AS body
            FROM webhook_deliveries d
            WHERE d.bucket = \(.int2(Int16(id.bucket.number))) AND d.accepted_on = DATE 'epoch' + \(.int4(Int32(id.day)))
              AND d.id = \(.uuid(id.uuid)) AND d.sequence = \(.int8(NewDelivery.noticeSequence))
              AND \(scope.includes("d.publisher"))
            """)
        guard let row = found.first else { return nil }
        let body: Private<String> = try row.open("body")
        let new = NewDelivery(
            notice: body.value, endpoint: try row.endpointID("endpoint"),
            publisher: try row.get("publisher"), at: memory.clock.nowOrHostTime)
        for statement in DeliveryStatements.enqueue([new]) { _ = try await database.query(statement) }
        return new.id
    }

    /// The next page of distinct customers and endpoints of a range of messages. Index used:
    /// `webhook_deliveries_newest`.
    public func repeatTargets(_ filter: RepeatFilter, in scope: OpsScope) async throws -> [RepeatTarget] {
        let endpoint = PostgresValue.text(filter.endpoint?.description)
        let after = PostgresValue.text(filter.after?.publisher)
        let last: SQL =
            "(\(after), \(.privateText(filter.after?.username)), \(.text(filter.after?.endpoint.description)))"
        return try await database.query(
            """
            SELECT DISTINCT ON (d.publisher, d.lane, d.endpoint)
                   d.publisher, ROW(d.sealed_by, d.lane) AS lane, d.endpoint
            FROM webhook_deliveries d
            JOIN webhook_endpoints e
              ON e.id = d.endpoint AND e.removed_at IS NULL AND e.disabled_at IS NULL
                 AND e.kind = \(WebhookEndpoint.StoredKind.purchases)
            WHERE d.created_at >= \(.timestamptz(filter.from.postgres))
              AND d.created_at < \(.timestamptz(filter.to.postgres))
              AND d.sequence <> \(.int8(NewDelivery.noticeSequence))
              AND (\(endpoint) IS NULL OR d.endpoint = \(endpoint))
              AND (\(.bool(filter.includesDelivered)) AND d.state = \(DeliveryState.delivered)
                   OR d.state IN (\(DeliveryState.failed), \(DeliveryState.dropped)))
              AND (\(after) IS NULL OR (d.publisher, d.lane, d.endpoint) > \(last))
              AND \(scope.includes("d.publisher"))
            ORDER BY d.publisher, d.lane, d.endpoint
            LIMIT \(.int4(Int32(clamping: filter.limit)))
            """, timeout: .seconds(30)
        ).map { row in
            RepeatTarget(
                publisher: try row.get("publisher"), username: try row.open("lane"),
                endpoint: try row.endpointID("endpoint"))
        }
    }

    private static func delivery(_ row: PostgresRow) throws -> OpsDelivery {
        OpsDelivery(
            id: try row.validationID(), endpoint: try row.get("endpoint"), url: try row.get("url"),
            publisher: try row.get("publisher"), applicationUsername: try readable(row, "lane"),
            state: try row.constant("state"), tries: try row.get("tries"),
            lastStatus: try row.get("last_status", as: Int32?.self).map { Int($0) },
            lastError: try row.get("last_error"), createdAt: try row.timestamp("created_at"),
            finishedAt: try row.timestampIfSet("finished_at"), nextTryAt: try row.timestampIfSet("next_try_at"))
    }

    /// A name that cannot be opened must not hide the rest of the page.
    private static func readable(_ row: PostgresRow, _ column: StaticString) throws -> Username {
        do {
            return try row.open(column)
        } catch let error as PostgresError where error.code == .decoding {
            return "(unreadable)"
        }
    }
}
