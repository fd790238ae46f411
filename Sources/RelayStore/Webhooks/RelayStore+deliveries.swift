import Postgres
public import RelayCore

extension RelayStore {
    /// Of each endpoint no more than it has room for, and of one endpoint and lane one at a time, in order. One whose lease is over
    /// goes before the newer ones of its lane. Indexes used: for each endpoint `webhook_queue_due`, for each row that is due
    /// `webhook_queue_lane`. Two workers that take two of one lane in the same instant meet in `webhook_queue_one_sender`: one
    /// of the two statements fails, takes nothing, and is run again. Planned anew each time, like all that is asked of the queue
    /// often: it is empty most of the time.
    private static let claimSQL = """
        WITH due AS MATERIALIZED (
            SELECT q.bucket, q.id, e.mark
            FROM unnest($1::text[], $2::int4[], $5::int4[], $6::text[]) AS e(id, room, mark, publisher)
            CROSS JOIN LATERAL (
                SELECT q.bucket, q.id
                FROM webhook_queue q
                WHERE q.endpoint = e.id AND q.due_at <= now() AND q.parked_at IS NULL
                  AND (q.owner IS NOT NULL OR NOT EXISTS (
                        SELECT FROM webhook_queue o
                        WHERE o.bucket = q.bucket AND o.endpoint = q.endpoint AND o.lane = q.lane AND o.id <> q.id
                          AND o.parked_at IS NULL
                          AND (o.owner IS NOT NULL OR (o.sequence, o.created_at, o.id) < (q.sequence, q.created_at, q.id))))
                ORDER BY q.due_at
                LIMIT e.room
                FOR UPDATE OF q SKIP LOCKED
            ) AS q
            WHERE \(PublisherScope.hasAccountSQL("e.publisher", 7))
        ), claimed AS (
            UPDATE webhook_queue q
            SET owner = $3, fence = q.fence + 1, tries = q.tries + 1, \(WorkQueue.strike("q")),
                due_at = now() + $4::int8 * interval '1 microsecond', body_mark = coalesce(q.body_mark, due.mark)
            FROM due
            WHERE q.bucket = due.bucket AND q.id = due.id
            RETURNING q.*
        )
        SELECT q.bucket, q.accepted_on - DATE 'epoch', q.id, q.endpoint, ROW(q.sealed_by, q.lane), q.fence, q.tries,
               q.overtaken, q.body_mark, ROW(d.sealed_by, d.body), d.trace, \(WorkQueue.columns("q"))
        FROM claimed q
        LEFT JOIN webhook_deliveries d ON d.bucket = q.bucket AND d.accepted_on = q.accepted_on AND d.id = q.id
        """

    /// The rows are locked in the order in which those who enqueue do, and then read as they are by then: `overtaken` is what
    /// decides. Index used: the primary keys.
    private static let recordSQL = """
        WITH held AS MATERIALIZED (
            SELECT q.bucket, q.accepted_on, q.id, q.tries, i.pause, i.status, i.error,
                   CASE WHEN i.state <> 1 AND q.overtaken THEN 3 ELSE i.state END AS state
            FROM unnest($1::int2[], $2::uuid[], $3::int4[], $4::int2[], $5::int8[], $6::int4[], $7::text[])
                 AS i(bucket, id, fence, state, pause, status, error)
            JOIN webhook_queue q ON q.bucket = i.bucket AND q.id = i.id AND q.fence = i.fence AND q.owner = $8
            ORDER BY q.bucket, q.id
            FOR UPDATE OF q
        ), again AS (
            UPDATE webhook_queue q
            SET owner = NULL, due_at = now() + held.pause * interval '1 microsecond', \(WorkQueue.cleared), trouble = NULL
            FROM held
            WHERE q.bucket = held.bucket AND q.id = held.id AND held.state = 0
        ), ended AS (
            DELETE FROM webhook_queue q
            USING held
            WHERE q.bucket = held.bucket AND q.id = held.id AND held.state <> 0
        ), told AS (
            UPDATE webhook_deliveries d
            SET tries = held.tries, state = held.state, last_status = held.status, last_error = held.error,
                finished_at = CASE WHEN held.state <> 0 THEN now() END,
                failed_at = CASE WHEN held.state = 2 THEN now() END
            FROM held
            WHERE d.bucket = held.bucket AND d.accepted_on = held.accepted_on AND d.id = held.id
        )
        SELECT held.bucket, held.accepted_on - DATE 'epoch', held.id, held.state FROM held
        """

    /// What nobody will ever send: its endpoint is disabled or removed. Index used: `webhook_queue_due`, for each of those.
    private static let dropSQL = """
        WITH page AS MATERIALIZED (
            SELECT q.bucket, q.id
            FROM webhook_endpoints e
            CROSS JOIN LATERAL (
                SELECT q.bucket, q.id
                FROM webhook_queue q
                WHERE q.endpoint = e.id AND (q.owner IS NULL OR q.due_at <= now())
                LIMIT $1
                FOR UPDATE OF q SKIP LOCKED
            ) AS q
            WHERE e.disabled_at IS NOT NULL OR e.removed_at IS NOT NULL
            LIMIT $1
        ), gone AS (
            DELETE FROM webhook_queue q
            USING page
            WHERE q.bucket = page.bucket AND q.id = page.id
            RETURNING q.bucket, q.accepted_on, q.id, q.tries
        )
        UPDATE webhook_deliveries d
        SET state = 4, finished_at = now(), tries = gone.tries
        FROM gone
        WHERE d.bucket = gone.bucket AND d.accepted_on = gone.accepted_on AND d.id = gone.id
        """

    private static let backlogSQL = """
        SELECT count(*), count(*) FILTER (WHERE q.tries > 0),
               (extract(epoch FROM now() - min(q.created_at)) * 1000000)::int8,
               (SELECT count(*) FROM webhook_endpoints e WHERE e.removed_at IS NULL AND \(OpsScope.sql("e.publisher", 1))),
               (SELECT count(*) FROM webhook_endpoints e WHERE e.removed_at IS NULL AND e.disabled_at IS NOT NULL
                  AND \(OpsScope.sql("e.publisher", 1))),
               (SELECT count(*) FROM webhook_endpoints e
                WHERE e.removed_at IS NULL AND e.disabled_at IS NULL AND e.failing_since IS NOT NULL
                  AND \(OpsScope.sql("e.publisher", 1)))
        FROM webhook_queue q
        WHERE q.parked_at IS NULL
          AND ($1::text IS NULL OR q.endpoint IN (SELECT e.id FROM webhook_endpoints e WHERE e.publisher = $1))
        """

    /// Takes messages that are due, for `lease`.
    ///
    /// - Parameters:
    ///   - rooms: for how many, by endpoint; nothing is taken of others.
    ///   - own: publishers whose own credentials this copy has.
    /// - Throws: ``PostgresError``; with the constraint `webhook_queue_one_sender` the same again succeeds.
    public func claimDeliveries(
        _ rooms: [EndpointID: DeliveryRoom], own: [PublisherID] = [], lease: Duration
    ) async throws -> [ClaimedDelivery] {
        try vault.check()
        let rooms = rooms.filter { $0.value.count > 0 }
        let rows = try await pool.query(
            PostgresQuery(
                Self.claimSQL,
                [
                    .textArray(rooms.map(\.key.description)), .int4Array(rooms.map { Int32(clamping: $0.value.count) }),
                    .text(instance), .int8(lease.microseconds), .int4Array(rooms.map(\.value.mark.number)),
                    .textArray(rooms.map(\.value.publisher)), .textArray(own),
                ], isPlannedAnew: true))
        return try await sift(rows) {
            try ClaimedRow(.webhooks, $0, fence: 5, columns: 11)
        } _: { row, claimed in
            guard let endpoint = EndpointID(try row.get(3, as: String.self)) else {
                throw StoreError.unreadable(column: "endpoint")
            }
            return ClaimedDelivery(
                row: claimed, id: try row.validationID(bucket: 0, day: 1, id: 2), endpoint: endpoint,
                lane: try row.open(4),
                fence: try row.get(5), tries: try row.get(6), isOvertaken: try row.get(7),
                mark: BodyMark(number: try row.get(8)), body: try row.open(9), trace: try row.get(10))
        }
    }

    /// Writes what became of tries, unless somebody else has them by now. One that failed and was overtaken ends replaced.
    ///
    /// - Returns: one outcome for each, in the same order.
    func record(_ records: [DeliveryRecord]) async throws -> [DeliveryRecordOutcome] {
        let rows = try await pool.query(
            PostgresQuery(
                Self.recordSQL,
                [
                    .int2Array(records.map { Int16($0.claimed.id.bucket.number) }),
                    .uuidArray(records.map(\.claimed.id.uuid)), .int4Array(records.map(\.claimed.fence)),
                    .int2Array(records.map(\.state.rawValue)), .int8Array(records.map(\.pause.microseconds)),
                    .int4Array(records.map { $0.status.map { Int32(clamping: $0) } }),
                    .textArray(records.map(\.error)), .text(instance),
                ], isPlannedAnew: true))
        var states: [DeliveryID: DeliveryState] = [:]
        for row in rows {
            states[try row.validationID(bucket: 0, day: 1, id: 2)] = try Self.deliveryState(row, 3)
        }
        return records.map { record in states[record.claimed.id].map { .written($0) } ?? .leaseLost }
    }

    /// Gives back untouched: another copy goes on at once. What was overtaken meanwhile goes back too: the next claim finds it so.
    public func giveBackDeliveries(_ claimed: [ClaimedDelivery], after pause: Duration = .zero) async throws {
        try await giveBack(claimed.map(\.row), after: pause)
    }

    /// Drops what waits for endpoints that are disabled or removed, a bounded number at a time.
    ///
    /// - Returns: how many.
    public func dropUndeliverable(limit: Int = 1_000) async throws -> Int {
        try await pool.query(PostgresQuery(Self.dropSQL, [.int4(Int32(clamping: limit))])).affectedRows
    }

    /// What is still to be delivered.
    public func webhookBacklog(in scope: OpsScope) async throws -> WebhookBacklog {
        guard let row = try await pool.query(PostgresQuery(Self.backlogSQL, [scope.parameter])).first else {
            throw StoreError.missingRow("the backlog of webhooks")
        }
        return WebhookBacklog(
            waiting: try row.get(0), retrying: try row.get(1),
            oldest: try row.get(2, as: Int64?.self).map { .microseconds($0) }, endpoints: try row.get(3),
            disabled: try row.get(4), failing: try row.get(5))
    }

    static func deliveryState(_ row: PostgresRow, _ index: Int) throws -> DeliveryState {
        let number = try row.get(index, as: Int.self)
        guard let state = DeliveryState(rawValue: Int16(truncatingIfNeeded: number)) else {
            throw StoreError.unknownNumber(column: "state", number: number)
        }
        return state
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
