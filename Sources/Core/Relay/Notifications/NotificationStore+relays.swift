import Postgres
public import RelayCore

extension NotificationStore {
    /// Claims notifications that must be relayed, for `lease`.
    ///
    /// Claims one notification of a subscription at a time, in signing order. One that another copy was sending when it
    /// died goes first. If two workers claim two of one subscription at once, the index
    /// `notification_relays_one_sender` fails one statement, and the caller repeats it. Indexes used:
    /// `notification_relays_due` once for each publisher, `notification_relays_lane` for each row.
    ///
    /// - Throws: ``PostgresError``; after a violation of `notification_relays_one_sender`, a retry succeeds.
    public func claim(
        of scope: PublisherScope = .common, limit: Int, lease: Duration
    ) async throws -> [ClaimedNotification] {
        try memory.vault.check()
        let limit = PostgresValue.int4(Int32(limit))
        let rows = try await database.query(
            """
            WITH due AS MATERIALIZED (
                SELECT due.bucket, due.id
                FROM \(PublisherScope.publishers)
                CROSS JOIN LATERAL (
                    SELECT r.bucket, r.id, r.due_at
                    FROM notification_relays r
                    WHERE r.publisher = pub.id AND r.due_at <= now() AND r.parked_at IS NULL
                      AND (r.stands_aside OR r.owner IS NOT NULL OR NOT EXISTS (
                            SELECT FROM notification_relays q
                            WHERE q.bucket = r.bucket AND q.lane = r.lane
                              AND q.publisher IS NOT DISTINCT FROM r.publisher
                              AND q.environment = r.environment AND q.id <> r.id AND NOT q.stands_aside
                              AND (q.owner IS NOT NULL
                                   OR (q.said_at, q.received_at, q.id) < (r.said_at, r.received_at, r.id))))
                    ORDER BY r.due_at
                    LIMIT \(limit)
                    FOR UPDATE OF r SKIP LOCKED
                ) AS due
                WHERE \(scope.includes("pub.id"))
                ORDER BY due.due_at
                LIMIT \(limit)
            ), claimed AS (
                UPDATE notification_relays r
                SET owner = \(.text(memory.instance)), fence = r.fence + 1, attempts = r.attempts + 1,
                    \(WorkQueue.strike("r")), due_at = now() + \(lease)
                FROM due
                WHERE r.bucket = due.bucket AND r.id = due.id
                RETURNING r.*
            )
            SELECT r.bucket, r.accepted_on - DATE 'epoch' AS day, r.id, r.fence, r.attempts, r.lane,
                   ROW(n.sealed_by, n.body) AS body, n.trace, \(WorkQueue.columns("r"))
            FROM claimed r
            LEFT JOIN LATERAL (
                SELECT * FROM notifications n
                WHERE n.bucket = r.bucket AND n.accepted_on = r.accepted_on AND n.id = r.id
                OFFSET 0) AS n ON true
            """)
        return try await relay.queues.decode(rows) {
            try ClaimedRow(.notifications, .id($0.validationID()), fence: $0.get("fence"), $0)
        } _: { row, claimed in
            ClaimedNotification(
                row: claimed, id: try row.validationID(), fence: try row.get("fence"),
                attempts: try row.get("attempts"), lane: try row.get("lane"), body: try row.open("body"),
                trace: try row.get("trace"))
        }
    }

    /// Writes the outcome, unless another worker has claimed it.
    public func record(_ outcome: RelayOutcome, of claimed: ClaimedNotification) async throws {
        let isHeld: SQL = """
            r.bucket = \(.int2(Int16(claimed.id.bucket.number))) AND r.id = \(.uuid(claimed.id.uuid))
            AND r.fence = \(.int4(claimed.fence)) AND r.owner = \(.text(memory.instance))
            """
        let day = PostgresValue.int4(Int32(claimed.id.day))
        switch outcome {
        case .delivered, .gone:
            _ = try await database.query(
                """
                WITH once_more AS (
                    UPDATE notification_relays r
                    SET owner = NULL, due_at = now(), again = false, \(WorkQueue.cleared)
                    WHERE \(isHeld) AND r.again
                ), ended AS (
                    DELETE FROM notification_relays r
                    WHERE \(isHeld) AND NOT r.again
                    RETURNING r.bucket, r.accepted_on, r.id, r.attempts
                )
                UPDATE notifications n
                SET relay = \(OpsNotification.RelayStatus.delivered), relay_attempts = e.attempts, relay_error = NULL,
                    relayed_at = now()
                FROM ended e
                WHERE n.bucket = e.bucket AND n.accepted_on = DATE 'epoch' + \(day) AND n.id = e.id
                """)
        case .failed(let trouble, let next, let standsAside):
            _ = try await database.query(
                """
                WITH failed AS (
                    UPDATE notification_relays r
                    SET owner = NULL, trouble = \(.text(trouble)), due_at = now() + \(next),
                        stands_aside = r.stands_aside OR \(.bool(standsAside)), \(WorkQueue.cleared)
                    WHERE \(isHeld)
                    RETURNING r.bucket, r.id, r.attempts
                )
                UPDATE notifications n
                SET relay_attempts = f.attempts, relay_error = \(.text(trouble))
                FROM failed f
                WHERE n.bucket = f.bucket AND n.accepted_on = DATE 'epoch' + \(day) AND n.id = f.id
                """)
        }
    }

    /// Counts of notifications that wait to be relayed.
    public func backlog(in scope: OpsScope) async throws -> NotificationBacklog {
        let rows = try await database.query(
            """
            SELECT count(*) AS waiting, count(*) FILTER (WHERE stands_aside) AS refused,
                   (extract(epoch FROM now() - min(received_at)) * 1000000)::int8 AS oldest
            FROM notification_relays r
            WHERE r.parked_at IS NULL AND \(scope.includes("r.publisher"))
            """)
        guard let row = rows.first else { throw StoreError.missingRow("the backlog of notifications") }
        return NotificationBacklog(
            waiting: try row.get("waiting"), refused: try row.get("refused"),
            oldest: try row.get("oldest", as: Int64?.self).map { .microseconds($0) })
    }
}

/// The App Store's notifications that Cleeng has not accepted yet.
public struct NotificationBacklog: Sendable, Equatable {
    public var waiting: Int
    /// Notifications among them that Cleeng rejects because of their content.
    public var refused: Int
    /// Age of the oldest notification; nil if there is none.
    public var oldest: Duration?
}

/// Like the id of a validation, it contains the row's location.
public typealias NotificationID = ValidationID

/// A notification that this process relays while its lease lasts.
public struct ClaimedNotification: ClaimedItem {
    public let row: ClaimedRow
    public var id: NotificationID
    public var fence: Int32
    /// Includes this attempt.
    public var attempts: Int
    /// The subscription, or the notification itself if it concerns none.
    public var lane: TransactionID
    /// Nil if it is no longer stored.
    public var body: Private<[UInt8]>?
    /// Trace of the request that delivered it; see ``StoredTrace``.
    public var trace: String?
}

/// Outcome of relaying a notification.
public enum RelayOutcome: Sendable, Equatable {
    case delivered
    /// - Parameter standsAside: it is rejected because of its content, and does not delay later ones.
    case failed(String, next: Duration, standsAside: Bool)
    /// The notification is no longer stored, so there is nothing to send.
    case gone
}

extension ClaimedNotification: LeasedItem {}
