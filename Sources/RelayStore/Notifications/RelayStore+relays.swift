import Postgres
import RelayCore

extension RelayStore {
    /// Of one subscription one at a time, in the order in which it was said; one that was being sent when its copy died goes
    /// first. Indexes used: `notification_relays_due` once for each publisher, and for each row `notification_relays_lane`. Two workers that take two of
    /// one subscription in the same instant meet in `notification_relays_one_sender`: one of the two statements fails, takes
    /// nothing, and is run again.
    private static let claimSQL = """
        WITH due AS MATERIALIZED (
            SELECT due.bucket, due.id
            FROM \(PublisherScope.publishersSQL)
            CROSS JOIN LATERAL (
                SELECT r.bucket, r.id, r.due_at
                FROM notification_relays r
                WHERE r.publisher = pub.id AND r.due_at <= now() AND r.parked_at IS NULL
                  AND (r.stands_aside OR r.owner IS NOT NULL OR NOT EXISTS (
                        SELECT FROM notification_relays q
                        WHERE q.bucket = r.bucket AND q.lane = r.lane AND q.publisher IS NOT DISTINCT FROM r.publisher
                          AND q.environment = r.environment AND q.id <> r.id AND NOT q.stands_aside
                          AND (q.owner IS NOT NULL
                               OR (q.said_at, q.received_at, q.id) < (r.said_at, r.received_at, r.id))))
                ORDER BY r.due_at
                LIMIT $1
                FOR UPDATE OF r SKIP LOCKED
            ) AS due
            WHERE \(PublisherScope.sql("pub.id", from: 4))
            ORDER BY due.due_at
            LIMIT $1
        ), claimed AS (
            UPDATE notification_relays r
            SET owner = $2, fence = r.fence + 1, attempts = r.attempts + 1, \(WorkQueue.strike("r")),
                due_at = now() + $3::int8 * interval '1 microsecond'
            FROM due
            WHERE r.bucket = due.bucket AND r.id = due.id
            RETURNING r.*
        )
        SELECT r.bucket, r.accepted_on - DATE 'epoch', r.id, r.fence, r.attempts, r.lane,
               ROW(n.sealed_by, n.body), n.trace,
               \(WorkQueue.columns("r"))
        FROM claimed r
        LEFT JOIN notifications n ON n.bucket = r.bucket AND n.accepted_on = r.accepted_on AND n.id = r.id
        """

    private static let endSQL = """
        WITH once_more AS (
            UPDATE notification_relays r
            SET owner = NULL, due_at = now(), again = false, \(WorkQueue.cleared)
            WHERE r.bucket = $1 AND r.id = $3 AND r.fence = $4 AND r.owner = $5 AND r.again
        ), ended AS (
            DELETE FROM notification_relays r
            WHERE r.bucket = $1 AND r.id = $3 AND r.fence = $4 AND r.owner = $5 AND NOT r.again
            RETURNING r.bucket, r.accepted_on, r.id, r.attempts
        )
        UPDATE notifications n
        SET relay = 2, relay_attempts = e.attempts, relay_error = NULL, relayed_at = now()
        FROM ended e
        WHERE n.bucket = e.bucket AND n.accepted_on = DATE 'epoch' + $2::int4 AND n.id = e.id
        """

    private static let failSQL = """
        WITH failed AS (
            UPDATE notification_relays r
            SET owner = NULL, trouble = $6, due_at = now() + $7::int8 * interval '1 microsecond', stands_aside = r.stands_aside OR $8,
                \(WorkQueue.cleared)
            WHERE r.bucket = $1 AND r.id = $3 AND r.fence = $4 AND r.owner = $5
            RETURNING r.bucket, r.id, r.attempts
        )
        UPDATE notifications n
        SET relay_attempts = f.attempts, relay_error = $6
        FROM failed f
        WHERE n.bucket = f.bucket AND n.accepted_on = DATE 'epoch' + $2::int4 AND n.id = f.id
        """

    private static let backlogSQL = """
        SELECT count(*), count(*) FILTER (WHERE stands_aside),
               (extract(epoch FROM now() - min(received_at)) * 1000000)::int8
        FROM notification_relays r
        WHERE r.parked_at IS NULL AND \(OpsScope.sql("r.publisher", 1))
        """

    /// Takes notifications that are to be passed on, for `lease`.
    ///
    /// - Throws: ``PostgresError``; with the constraint `notification_relays_one_sender` the same again succeeds.
    public func claimNotifications(
        of scope: PublisherScope = .common, limit: Int, lease: Duration
    ) async throws -> [ClaimedNotification] {
        try vault.check()
        let rows = try await pool.query(
            PostgresQuery(
                Self.claimSQL,
                [.int4(Int32(limit)), .text(instance), .int8(lease.microseconds)] + scope.parameters))
        return try await sift(rows) {
            try ClaimedRow(.notifications, $0, fence: 3, columns: 8)
        } _: { row, claimed in
            ClaimedNotification(
                row: claimed, id: try row.validationID(bucket: 0, day: 1, id: 2), fence: try row.get(3),
                attempts: try row.get(4),
                lane: try row.get(5), body: try row.open(6), trace: try row.get(7))
        }
    }

    /// Writes what became of it, unless somebody else has it by now.
    public func record(_ outcome: RelayOutcome, of claimed: ClaimedNotification) async throws {
        let key = claimed.id.key + [.int4(claimed.fence), .text(instance)]
        switch outcome {
        case .delivered, .gone: _ = try await pool.query(PostgresQuery(Self.endSQL, key))
        case .failed(let trouble, let next, let standsAside):
            _ = try await pool.query(
                PostgresQuery(
                    Self.failSQL, key + [.text(trouble), .int8(next.microseconds), .bool(standsAside)]))
        }
    }

    /// What waits to be passed on.
    public func notificationBacklog(in scope: OpsScope) async throws -> NotificationBacklog {
        guard let row = try await pool.query(PostgresQuery(Self.backlogSQL, [scope.parameter])).first else {
            throw StoreError.missingRow("the backlog of notifications")
        }
        return NotificationBacklog(
            waiting: try row.get(0), refused: try row.get(1),
            oldest: try row.get(2, as: Int64?.self).map { .microseconds($0) })
    }
}
