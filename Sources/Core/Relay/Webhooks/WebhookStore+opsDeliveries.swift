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

    /// The next page of distinct customers and endpoints of a range: of messages that were not delivered, and of
    /// changes without a message, because the endpoint was disabled then.
    public func repeatTargets(_ filter: RepeatFilter, in scope: OpsScope) async throws -> [RepeatTarget] {
        let limit = PostgresValue.int4(Int32(clamping: filter.limit))
        let query: SQL = """
            SELECT DISTINCT ON (t.publisher, t.lane, t.endpoint)
                   t.publisher, ROW(t.sealed_by, t.lane) AS lane, t.lane || '' AS stored_lane, t.endpoint
            FROM (
                (\(Self.undelivered(filter, in: scope)) LIMIT \(limit))
                UNION ALL
                (\(Self.unsent(filter, in: scope)) LIMIT \(limit))
            ) AS t
            ORDER BY t.publisher, t.lane, t.endpoint
            LIMIT \(limit)
            """
        // A statement by itself may take fifteen seconds, whatever its timeout.
        let rows = try await database.withTransaction(timeout: .seconds(60)) { try await $0.query(query) }
        return try rows.map { row in
            RepeatTarget(
                publisher: try row.get("publisher"), username: try Self.username(row, "lane"),
                endpoint: try row.endpointID("endpoint"), storedLane: try row.get("stored_lane"))
        }
    }

    /// Reads all pages of ``repeatTargets(_:in:)``.
    public func eachRepeatPage(
        _ filter: RepeatFilter, in scope: OpsScope, _ body: ([RepeatTarget]) async throws -> Void
    ) async throws {
        var filter = filter
        while true {
            let page = try await repeatTargets(filter, in: scope)
            try await body(page)
            guard page.count == filter.limit, let last = page.last else { return }
            filter.after = last
        }
    }

    /// Index used: `webhook_deliveries_newest`.
    private static func undelivered(_ filter: RepeatFilter, in scope: OpsScope) -> SQL {
        """
        SELECT DISTINCT ON (d.publisher, d.lane, d.endpoint) d.publisher, d.sealed_by, d.lane, d.endpoint
        FROM webhook_deliveries d
        JOIN webhook_endpoints e ON e.id = d.endpoint AND \(receivesRepeats)
        WHERE d.created_at >= \(.timestamptz(filter.from.postgres))
          AND d.created_at < \(.timestamptz(filter.to.postgres))
          AND d.sequence <> \(.int8(NewDelivery.noticeSequence))
          AND (\(.bool(filter.includesDelivered)) AND d.state = \(DeliveryState.delivered)
               OR d.state IN (\(DeliveryState.failed), \(DeliveryState.dropped)))
          AND \(filter.includes(publisher: "d.publisher", lane: "d.lane", endpoint: "d.endpoint"))
          AND \(scope.includes("d.publisher"))
        ORDER BY d.publisher, d.lane, d.endpoint
        """
    }

    /// Sorts before it looks for messages, so that a page looks for few. A transaction that reads a change may have
    /// begun before it, hence the comparison of versions besides that of times. Indexes used: `customers_changed`, for
    /// each customer and endpoint `webhook_deliveries_lane`.
    private static func unsent(_ filter: RepeatFilter, in scope: OpsScope) -> SQL {
        let days = PostgresValue.int4(filter.keptDays.map { Int32(clamping: $0) })
        let live = PostgresValue.textArray([StoreEnvironment.production, .unknown])
        return """
            SELECT c.publisher, c.sealed_by, c.lane, c.endpoint
            FROM (
                SELECT c.publisher, c.sealed_by, c.username AS lane, e.id AS endpoint, c.bucket, c.version, c.changed_at
                FROM customers c
                JOIN webhook_endpoints e
                  ON e.publisher = c.publisher AND e.created_at <= c.changed_at AND \(receivesRepeats)
                WHERE c.changed_at >= \(.timestamptz(filter.from.postgres))
                  AND c.changed_at < \(.timestamptz(filter.to.postgres))
                  AND (\(days) IS NULL OR c.changed_at >= now() - make_interval(days => \(days)))
                  AND c.untold_since IS NULL
                  AND (c.environment IS NULL OR e.environment = \(WebhookEnvironment.all)
                       OR (e.environment = \(WebhookEnvironment.production)) = (c.environment = ANY (\(live))))
                  AND \(filter.includes(publisher: "c.publisher", lane: "c.username", endpoint: "e.id"))
                  AND \(scope.includes("c.publisher"))
                ORDER BY c.publisher, c.username, e.id
            ) AS c
            WHERE NOT EXISTS (
                SELECT FROM webhook_deliveries d
                WHERE d.bucket = c.bucket AND d.lane = c.lane AND d.endpoint = c.endpoint
                  AND d.accepted_on >= (c.changed_at AT TIME ZONE 'UTC')::date - 1
                  AND (d.created_at >= c.changed_at OR d.sequence >= c.version)
                OFFSET 0)
            ORDER BY c.publisher, c.lane, c.endpoint
            """
    }

    private static let receivesRepeats: SQL = """
        e.removed_at IS NULL AND e.disabled_at IS NULL AND e.kind = \(WebhookEndpoint.StoredKind.purchases)
        """

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
        try username(row, column) ?? "(unreadable)"
    }

    /// Nil if the name cannot be opened, not even later.
    private static func username(_ row: PostgresRow, _ column: StaticString) throws -> Username? {
        do {
            return try row.open(column)
        } catch let error as PostgresError where error.code == .decoding {
            return nil
        }
    }
}

extension RepeatFilter {
    /// Condition on a target: after the previous page, and of the endpoint if one is named.
    fileprivate func includes(publisher: SQL, lane: SQL, endpoint: SQL) -> SQL {
        let (only, last) = (PostgresValue.text(self.endpoint?.description), PostgresValue.text(after?.publisher))
        return """
            (\(only) IS NULL OR \(endpoint) = \(only))
            AND (\(last) IS NULL OR (\(publisher), \(lane), \(endpoint))
                 > (\(last), \(.text(after?.storedLane)), \(.text(after?.endpoint.description))))
            """
    }
}
