import Formats
import Postgres
public import RelayCore

extension WebhookStore {
    /// Claims messages that are due, for `lease`.
    ///
    /// Claims up to `quotas` messages of an endpoint, but only one at a time of an endpoint and lane, in order. A
    /// message with an expired lease goes before newer ones of its lane.
    ///
    /// Indexes used: for each endpoint `webhook_queue_due`, for each due row `webhook_queue_lane`. If two workers claim
    /// two messages of one lane at once, the index `webhook_queue_one_sender` fails one statement, which is run again.
    /// The statement is planned each time, like all frequent ones on this queue, because the queue is empty most of the
    /// time.
    ///
    /// - Parameters:
    ///   - quotas: limits by endpoint; messages of other endpoints are not claimed.
    ///   - own: publishers whose own credentials this copy has.
    /// - Throws: ``PostgresError``; after a violation of `webhook_queue_one_sender`, a retry succeeds.
    public func claim(
        _ quotas: [EndpointID: DeliveryQuota], own: [PublisherID] = [], lease: Duration
    ) async throws -> [ClaimedDelivery] {
        try memory.vault.check()
        let rows = try await database.query(
            claim(quotas.filter { $0.value.count > 0 }, own: own, lease: lease).plannedAnew)
        return try await relay.queues.decode(rows) {
            try ClaimedRow(.webhooks, .id($0.validationID()), fence: $0.get("fence"), $0)
        } _: { row, claimed in
            ClaimedDelivery(
                row: claimed, id: try row.validationID(), endpoint: try row.endpointID("endpoint"),
                lane: try row.open("lane"), fence: try row.get("fence"), tries: try row.get("tries"),
                isOvertaken: try row.get("overtaken"), mark: BodyMark(number: try row.get("body_mark")),
                body: try row.open("body"), trace: try row.get("trace"))
        }
    }

    /// Enabled endpoints with due messages. Index used: for each endpoint `webhook_queue_due`.
    public func dueEndpoints() async throws -> Set<EndpointID> {
        let due: SQL = """
            SELECT e.id FROM webhook_endpoints e
            WHERE e.disabled_at IS NULL AND e.removed_at IS NULL AND \(DueWork.hasDueMessage(at: "now()"))
            """
        let rows = try await database.query(due.plannedAnew)
        return Set(try rows.map { try $0.endpointID("id") })
    }

    private func claim(_ quotas: [EndpointID: DeliveryQuota], own: [PublisherID], lease: Duration) -> SQL {
        let endpoints: SQLTable = [
            "id": .textArray(quotas.map(\.key.description)),
            "quota": .int4Array(quotas.map { Int32(clamping: $0.value.count) }),
            "mark": .int4Array(quotas.map(\.value.mark.number)),
            "publisher": .textArray(quotas.map(\.value.publisher)),
        ]
        return """
            WITH due AS MATERIALIZED (
                SELECT q.bucket, q.id, e.mark
                FROM \(endpoints, as: "e")
                CROSS JOIN LATERAL (
                    SELECT q.bucket, q.id
                    FROM webhook_queue q
                    WHERE q.endpoint = e.id AND q.due_at <= now() AND q.parked_at IS NULL
                      AND (q.owner IS NOT NULL OR NOT EXISTS (
                            SELECT FROM webhook_queue o
                            WHERE o.bucket = q.bucket AND o.endpoint = q.endpoint AND o.lane = q.lane AND o.id <> q.id
                              AND o.parked_at IS NULL
                              AND (o.owner IS NOT NULL
                                   OR (o.sequence, o.created_at, o.id) < (q.sequence, q.created_at, q.id))))
                    ORDER BY q.due_at
                    LIMIT e.quota
                    FOR UPDATE OF q SKIP LOCKED
                ) AS q
                WHERE \(PublisherScope.hasAccount(own, "e.publisher"))
            ), claimed AS (
                UPDATE webhook_queue q
                SET owner = \(.text(memory.instance)), fence = q.fence + 1, tries = q.tries + 1,
                    \(WorkQueue.strike("q")), due_at = now() + \(lease),
                    body_mark = coalesce(q.body_mark, due.mark)
                FROM due
                WHERE q.bucket = due.bucket AND q.id = due.id
                RETURNING q.*
            )
            SELECT q.bucket, q.accepted_on - DATE 'epoch' AS day, q.id, q.endpoint, ROW(q.sealed_by, q.lane) AS lane,
                   q.fence, q.tries, q.overtaken, q.body_mark, ROW(d.sealed_by, d.body) AS body, d.trace,
                   \(WorkQueue.columns("q"))
            FROM claimed q
            LEFT JOIN LATERAL (
                SELECT * FROM webhook_deliveries d
                WHERE d.bucket = q.bucket AND d.accepted_on = q.accepted_on AND d.id = q.id
                OFFSET 0) AS d ON true
            """
    }

    /// Writes results of tries, unless another worker has claimed them. A message that failed and was overtaken becomes
    /// replaced.
    ///
    /// - Returns: one outcome for each record, in the same order.
    func record(_ records: [DeliveryRecord]) async throws -> [DeliveryRecordOutcome] {
        var states: [DeliveryID: DeliveryState] = [:]
        for row in try await database.query(statement(recording: records).plannedAnew) {
            states[try row.validationID()] = try row.constant("state")
        }
        return records.map { record in states[record.claimed.id].map { .written($0) } ?? .leaseLost }
    }

    /// Locks the rows in the order of the statements that enqueue, and then reads them, because `overtaken` may have
    /// changed. `OFFSET 0` keeps the condition on the owner out of the lookup: with it, the planner read all claimed
    /// rows. Index used: the primary keys.
    private func statement(recording records: [DeliveryRecord]) -> SQL {
        let outcomes: SQLTable = [
            "bucket": .int2Array(records.map { Int16($0.claimed.id.bucket.number) }),
            "id": .uuidArray(records.map(\.claimed.id.uuid)), "fence": .int4Array(records.map(\.claimed.fence)),
            "state": .int2Array(records.map(\.state.rawValue)),
            "pause": .int8Array(records.map(\.pause.microseconds)),
            "status": .int4Array(records.map { $0.status.map { Int32(clamping: $0) } }),
            "error": .textArray(records.map(\.error)),
        ]
        let (waiting, delivered) = (DeliveryState.waiting, DeliveryState.delivered)
        return """
            WITH held AS MATERIALIZED (
                SELECT q.bucket, q.accepted_on, q.id, q.tries, i.pause, i.status, i.error,
                       CASE WHEN i.state <> \(delivered) AND q.overtaken THEN \(DeliveryState.replaced)
                            ELSE i.state END AS state
                FROM (SELECT * FROM \(outcomes, as: "i") ORDER BY i.bucket, i.id) AS i
                CROSS JOIN LATERAL (
                    SELECT * FROM webhook_queue q WHERE q.bucket = i.bucket AND q.id = i.id OFFSET 0 FOR UPDATE) AS q
                WHERE q.fence = i.fence AND q.owner = \(.text(memory.instance))
            ), again AS (
                UPDATE webhook_queue q
                SET owner = NULL, due_at = now() + held.pause * interval '1 microsecond',
                    \(WorkQueue.cleared), trouble = NULL
                FROM held
                WHERE q.bucket = held.bucket AND q.id = held.id AND held.state = \(waiting)
            ), ended AS (
                DELETE FROM webhook_queue q
                USING held
                WHERE q.bucket = held.bucket AND q.id = held.id AND held.state <> \(waiting)
            ), noted AS (
                UPDATE webhook_deliveries d
                SET tries = held.tries, state = held.state, last_status = held.status, last_error = held.error,
                    finished_at = CASE WHEN held.state <> \(waiting) THEN now() END,
                    failed_at = CASE WHEN held.state = \(DeliveryState.failed) THEN now() END
                FROM held
                WHERE d.bucket = held.bucket AND d.accepted_on = held.accepted_on AND d.id = held.id
            )
            SELECT held.bucket, held.accepted_on - DATE 'epoch' AS day, held.id, held.state::int2 AS state FROM held
            """
    }

    /// Drops messages that will never be sent, because their endpoint is disabled or removed: a bounded number at a
    /// time. Index used: `webhook_queue_due`, for each such endpoint.
    ///
    /// - Returns: how many messages were dropped.
    public func dropUndeliverable(limit: Int = 1_000) async throws -> Int {
        let limit = PostgresValue.int4(Int32(clamping: limit))
        return try await database.query(
            """
            WITH page AS MATERIALIZED (
                SELECT q.bucket, q.id
                FROM webhook_endpoints e
                CROSS JOIN LATERAL (
                    SELECT q.bucket, q.id
                    FROM webhook_queue q
                    WHERE q.endpoint = e.id AND (q.owner IS NULL OR q.due_at <= now())
                    LIMIT \(limit)
                    FOR UPDATE OF q SKIP LOCKED
                ) AS q
                WHERE e.disabled_at IS NOT NULL OR e.removed_at IS NOT NULL
                LIMIT \(limit)
            ), gone AS (
                DELETE FROM webhook_queue q
                USING page
                WHERE q.bucket = page.bucket AND q.id = page.id
                RETURNING q.bucket, q.accepted_on, q.id, q.tries
            )
            UPDATE webhook_deliveries d
            SET state = \(DeliveryState.dropped), finished_at = now(), tries = gone.tries
            FROM gone
            WHERE d.bucket = gone.bucket AND d.accepted_on = gone.accepted_on AND d.id = gone.id
            """
        ).affectedRows
    }

    /// Counts of undelivered messages and of endpoints.
    public func backlog(in scope: OpsScope) async throws -> WebhookBacklog {
        let present: SQL = "e.removed_at IS NULL AND \(scope.includes("e.publisher"))"
        let publisher = PostgresValue.text(scope.publisher)
        let rows = try await database.query(
            """
            SELECT count(*) AS waiting, count(*) FILTER (WHERE q.tries > 0) AS retrying,
                   (extract(epoch FROM now() - min(q.created_at)) * 1000000)::int8 AS oldest,
                   (SELECT count(*) FROM webhook_endpoints e WHERE \(present)) AS endpoints,
                   (SELECT count(*) FROM webhook_endpoints e WHERE \(present) AND e.disabled_at IS NOT NULL) AS disabled,
                   (SELECT count(*) FROM webhook_endpoints e
                    WHERE \(present) AND e.disabled_at IS NULL AND e.failing_since IS NOT NULL) AS failing
            FROM webhook_queue q
            WHERE q.parked_at IS NULL
              AND (\(publisher) IS NULL
                   OR q.endpoint IN (SELECT e.id FROM webhook_endpoints e WHERE e.publisher = \(publisher)))
            """)
        guard let row = rows.first else { throw StoreError.missingRow("the backlog of webhooks") }
        return WebhookBacklog(
            waiting: try row.get("waiting"), retrying: try row.get("retrying"),
            oldest: try row.get("oldest", as: Int64?.self).map { .microseconds($0) },
            endpoints: try row.get("endpoints"), disabled: try row.get("disabled"), failing: try row.get("failing"))
    }
}

extension PostgresRow {
    func endpointID(_ column: StaticString) throws -> EndpointID {
        guard let id = EndpointID(try get(column, as: String.self)) else {
            throw StoreError.unreadable(column: "\(column)")
        }
        return id
    }
}

extension DeliveryRecord {
    fileprivate var state: DeliveryState {
        switch outcome {
        case .delivered: .delivered
        case .again: .waiting
        case .failed: .failed
        }
    }

    fileprivate var pause: Duration {
        if case .again(let pause) = outcome { max(pause, .zero) } else { .zero }
    }
}

/// Undelivered messages to webhook endpoints.
public struct WebhookBacklog: Sendable, Equatable {
    public var waiting: Int
    /// Messages among them that were tried at least once.
    public var retrying: Int
    /// Age of the oldest message; nil if there is none.
    public var oldest: Duration?
    public var endpoints: Int
    /// Endpoints among them that are disabled.
    public var disabled: Int
    /// Enabled endpoints whose last try failed.
    public var failing: Int
}
