import Postgres
public import RelayCore

extension RelayStore {
    /// What waits is in the queue: there its tries, and its next one.
    private static let deliverySelect = """
        SELECT d.bucket, d.accepted_on - DATE 'epoch', d.id, d.endpoint, coalesce(e.url, ''), d.publisher,
               ROW(d.sealed_by, d.lane),
               \(deliveryState), coalesce(q.tries, d.tries), d.last_status, coalesce(q.trouble, d.last_error), d.created_at, d.finished_at,
               CASE WHEN q.owner IS NULL AND q.parked_at IS NULL THEN q.due_at END
        """

    private static let deliveryState = "CASE WHEN q.parked_at IS NOT NULL THEN 5 ELSE d.state END"

    private static let deliveryJoins = """
        LEFT JOIN webhook_endpoints e ON e.id = d.endpoint
        LEFT JOIN webhook_queue q ON q.bucket = d.bucket AND q.id = d.id
        """

    private static let deliveryPage = """
        ($2::int2 IS NULL OR \(deliveryState) = $2) AND ($3::timestamptz IS NULL OR (d.created_at, d.id) < ($3, $4::uuid))
          AND ($5::text IS NULL OR d.endpoint = $5) AND \(OpsScope.sql("d.publisher", 6))
        ORDER BY d.created_at DESC, d.id DESC
        LIMIT $1
        """

    /// Index used: `webhook_deliveries_newest`, backwards.
    private static let deliveriesSQL = """
        \(deliverySelect) FROM webhook_deliveries d \(deliveryJoins) WHERE \(deliveryPage)
        """

    /// Index used: `webhook_deliveries_failed`, backwards.
    private static let failedDeliveriesSQL = """
        \(deliverySelect) FROM webhook_deliveries d \(deliveryJoins) WHERE d.failed_at IS NOT NULL AND \(deliveryPage)
        """

    /// Index used: `webhook_deliveries_lane`.
    private static let laneDeliveriesSQL = """
        \(deliverySelect) FROM webhook_deliveries d \(deliveryJoins)
        WHERE d.bucket = ANY ($7::int2[]) AND d.lane = $8 AND \(deliveryPage)
        """

    /// Reads the queue, which holds only what waits or is parked. Index used: the deliveries' primary key.
    private static let queuedDeliveriesSQL = """
        \(deliverySelect)
        FROM webhook_queue q
        JOIN webhook_deliveries d ON d.bucket = q.bucket AND d.accepted_on = q.accepted_on AND d.id = q.id
        LEFT JOIN webhook_endpoints e ON e.id = d.endpoint
        WHERE \(deliveryPage)
        """

    private static let oneDeliverySQL = """
        \(deliverySelect) FROM webhook_deliveries d \(deliveryJoins)
        WHERE d.bucket = $1 AND d.accepted_on = DATE 'epoch' + $2::int4 AND d.id = $3
          AND \(OpsScope.sql("d.publisher", 4))
        """

    /// Each customer of each endpoint once. Index used: `webhook_deliveries_newest`.
    private static let repeatsSQL = """
        SELECT DISTINCT ON (d.publisher, d.lane, d.endpoint) d.publisher, ROW(d.sealed_by, d.lane), d.endpoint
        FROM webhook_deliveries d
        JOIN webhook_endpoints e ON e.id = d.endpoint AND e.removed_at IS NULL AND e.disabled_at IS NULL AND e.kind = 1
        WHERE d.created_at >= $1 AND d.created_at < $2 AND ($3::text IS NULL OR d.endpoint = $3)
          AND ($4 AND d.state = 1 OR d.state IN (2, 4))
          AND ($5::text IS NULL OR (d.publisher, d.lane, d.endpoint) > ($5, $6::text, $7::text))
          AND \(OpsScope.sql("d.publisher", 9))
        ORDER BY d.publisher, d.lane, d.endpoint
        LIMIT $8
        """

    /// A page, newest first.
    public func deliveries(
        matching filter: DeliveryFilter, in scope: OpsScope
    ) async throws -> (items: [OpsDelivery], next: ValidationCursor?) {
        var parameters: [PostgresValue] = [
            .int4(Int32(clamping: filter.limit + 1)), .int2(filter.state?.rawValue),
            .timestamptz(filter.cursor?.acceptedAt.postgres), .uuid(filter.cursor?.id.uuid),
            .text(filter.endpoint?.description), scope.parameter,
        ]
        let sql: String
        if let username = filter.applicationUsername {
            sql = Self.laneDeliveriesSQL
            parameters += [buckets(of: username, try await publishers(in: scope)), .privateText(username)]
        } else {
            sql =
                switch filter.state {
                case .waiting, .parked: Self.queuedDeliveriesSQL
                case .failed: Self.failedDeliveriesSQL
                default: Self.deliveriesSQL
                }
        }
        let rows = try await pool.query(PostgresQuery(sql, parameters))
        let page = try rows.prefix(filter.limit).map(Self.delivery)
        guard rows.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.createdAt, id: last.id))
    }

    /// Nil for an unknown id, and for one outside the scope.
    public func delivery(_ id: DeliveryID, in scope: OpsScope) async throws -> OpsDelivery? {
        try await pool.query(PostgresQuery(Self.oneDeliverySQL, id.key + [scope.parameter])).first.map(Self.delivery)
    }

    /// The next page of customers and endpoints that a range of messages was for.
    public func repeatTargets(_ filter: RepeatFilter, in scope: OpsScope) async throws -> [RepeatTarget] {
        try await pool.query(
            PostgresQuery(
                Self.repeatsSQL,
                [
                    .timestamptz(filter.from.postgres), .timestamptz(filter.to.postgres),
                    .text(filter.endpoint?.description), .bool(filter.includesDelivered),
                    .text(filter.after?.publisher), .privateText(filter.after?.username),
                    .text(filter.after?.endpoint.description), .int4(Int32(clamping: filter.limit)),
                    scope.parameter,
                ]), timeout: .seconds(30)
        ).map { row in
            guard let endpoint = EndpointID(try row.get(2, as: String.self)) else {
                throw StoreError.unreadable(column: "endpoint")
            }
            return RepeatTarget(publisher: try row.get(0), username: try row.open(1), endpoint: endpoint)
        }
    }

    /// A name that cannot be opened keeps nobody from seeing the rest of the page.
    private static func readable(_ row: PostgresRow, _ index: Int) throws -> Username {
        do {
            return try row.open(index)
        } catch let error as PostgresError where error.code == .decoding {
            return "(unreadable)"
        }
    }

    private static func delivery(_ row: PostgresRow) throws -> OpsDelivery {
        OpsDelivery(
            id: try row.validationID(bucket: 0, day: 1, id: 2), endpoint: try row.get(3), url: try row.get(4),
            publisher: try row.get(5), applicationUsername: try readable(row, 6), state: try deliveryState(row, 7),
            tries: try row.get(8), lastStatus: try row.get(9, as: Int32?.self).map { Int($0) },
            lastError: try row.get(10), createdAt: try row.timestamp(11), finishedAt: try row.timestampIfSet(12),
            nextTryAt: try row.timestampIfSet(13))
    }
}
