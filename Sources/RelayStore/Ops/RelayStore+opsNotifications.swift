import Postgres
public import RelayCore

extension RelayStore {
    private static let columns = """
        n.bucket, n.accepted_on - DATE 'epoch', n.id, n.version, n.notification_uuid, n.type, n.subtype, n.publisher,
        n.environment, n.bundle_id, n.subscription_key, n.said_at, n.received_at,
        CASE WHEN r.parked_at IS NOT NULL THEN 3 ELSE n.relay END, n.relay_attempts, n.relayed_at,
        coalesce(CASE WHEN r.parked_at IS NOT NULL THEN r.trouble END, n.relay_error)
        """

    private static let joined = "notifications n LEFT JOIN notification_relays r ON r.bucket = n.bucket AND r.id = n.id"

    private static let page = """
        ($2::int2 IS NULL OR $2 = CASE WHEN r.parked_at IS NOT NULL THEN 3 ELSE n.relay END)
          AND ($3::timestamptz IS NULL OR (n.received_at, n.id) < ($3, $4::uuid))
          AND \(OpsScope.sql("n.publisher", 5))
        ORDER BY n.received_at DESC, n.id DESC
        LIMIT $1
        """

    /// Index used: `notifications_newest`, backwards.
    private static let listSQL = "SELECT \(columns) FROM \(joined) WHERE \(page)"

    /// Index used: `notifications_subscription`.
    private static let keySQL = """
        SELECT \(columns) FROM \(joined)
        WHERE n.bucket = ANY ($6::int2[]) AND n.subscription_key = $7 AND \(page)
        """

    /// What waits, or is parked, is in the queue. Index used: the primary key.
    private static let queuedSQL = """
        SELECT \(columns)
        FROM notification_relays r
        JOIN notifications n ON n.bucket = r.bucket AND n.accepted_on = r.accepted_on AND n.id = r.id
        WHERE \(page)
        """

    private static let oneSQL = """
        SELECT \(columns), ROW(n.sealed_by, n.body)
        FROM \(joined)
        WHERE n.bucket = $1 AND n.accepted_on = DATE 'epoch' + $2::int4 AND n.id = $3
          AND \(OpsScope.sql("n.publisher", 4))
        """

    /// One that is being sent keeps its owner, and is sent once more after that. The queue's row is locked first, as by those who
    /// send.
    private static let replaySQL = """
        WITH again AS (
            INSERT INTO notification_relays AS r (
                bucket, accepted_on, id, due_at, said_at, received_at, publisher, environment, lane, attempts)
            SELECT n.bucket, n.accepted_on, n.id, now(), n.said_at, n.received_at, n.publisher, n.environment,
                   coalesce(n.subscription_key, n.id::text), n.relay_attempts
            FROM notifications n
            WHERE n.bucket = $1 AND n.accepted_on = DATE 'epoch' + $2::int4 AND n.id = $3
            ON CONFLICT (bucket, id) DO UPDATE SET
                \(WorkQueue.cleared), parked_at = NULL, again = r.owner IS NOT NULL, due_at = CASE WHEN r.owner IS NULL THEN now() ELSE r.due_at END,
                stands_aside = r.stands_aside AND r.owner IS NOT NULL
            RETURNING bucket, accepted_on, id
        )
        UPDATE notifications n
        SET relay = 1, relayed_at = NULL
        FROM again a
        WHERE n.bucket = a.bucket AND n.accepted_on = a.accepted_on AND n.id = a.id
        """

    /// A page, newest first.
    public func notifications(
        matching filter: NotificationFilter, in scope: OpsScope
    ) async throws -> (items: [OpsNotification], next: ValidationCursor?) {
        var parameters: [PostgresValue] = [
            .int4(Int32(clamping: filter.limit + 1)), .int2(filter.relay?.rawValue),
            .timestamptz(filter.cursor?.acceptedAt.postgres), .uuid(filter.cursor?.id.uuid), scope.parameter,
        ]
        let sql: String
        if let key = filter.originalTransactionID {
            sql = Self.keySQL
            parameters += [buckets(of: key, try await publishers(in: scope)), .text(key)]
        } else {
            sql = filter.relay == .pending || filter.relay == .parked ? Self.queuedSQL : Self.listSQL
        }
        let rows = try await pool.query(PostgresQuery(sql, parameters))
        let page = try rows.prefix(filter.limit).map(Self.notification)
        guard rows.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.receivedAt, id: last.id))
    }

    /// One, with its body as it came. Nil for an unknown id, and for one outside the scope.
    public func notification(
        _ id: NotificationID, in scope: OpsScope
    ) async throws -> (OpsNotification, body: Private<[UInt8]>)? {
        guard let row = try await pool.query(PostgresQuery(Self.oneSQL, id.key + [scope.parameter])).first else {
            return nil
        }
        return (try Self.notification(row), try row.open(17))
    }

    /// Hears what it says once more, which changes nothing that was heard, and passes it on again.
    ///
    /// - Parameters:
    ///   - archived: found in the scope of whoever wants it.
    ///   - notification: read anew from its body.
    ///   - by: who wants it, as the subscription's timeline shows it.
    public func replay(
        _ archived: OpsNotification, _ notification: StoreNotification, isRelayed: Bool, leeway: Duration, by: String,
        reason: String? = nil
    ) async throws {
        var messages = Self.messages(of: notification, publisher: archived.publisher, id: archived.id)
        for index in messages.indices {
            messages[index].note?.event = "replayed"
            messages[index].note?.detail = "\(notification.type.lowercased()), by \(by)"
            messages[index].note?.saidAt = nil
        }
        _ = try await hear(messages, leeway: leeway)
        if isRelayed { _ = try await pool.query(PostgresQuery(Self.replaySQL, archived.id.key)) }
        try await audit(
            AuditEntry(
                actor: by, .notificationReplayed, "\(archived.id)", of: archived.publisher, reason: reason))
    }

    private static func notification(_ row: PostgresRow) throws -> OpsNotification {
        let number = try row.get(13, as: Int.self)
        guard let relay = OpsNotification.RelayStatus(rawValue: Int16(clamping: number)) else {
            throw StoreError.unknownNumber(column: "relay", number: number)
        }
        return OpsNotification(
            id: try row.validationID(bucket: 0, day: 1, id: 2), version: try row.get(3), uuid: try row.get(4),
            type: try row.get(5), subtype: try row.get(6), publisher: try row.get(7), environment: try row.get(8),
            bundleID: try row.get(9), originalTransactionID: try row.get(10), signedAt: try row.timestamp(11),
            receivedAt: try row.timestamp(12), relay: relay, attempts: try row.get(14),
            relayedAt: try row.timestampIfSet(15), lastError: try row.get(16))
    }
}
