import Postgres
public import RelayCore

extension RelayStore {
    private static let columns = """
        n.bucket, n.accepted_on - DATE 'epoch', n.id, n.version, n.notification_uuid, n.type, n.subtype, n.publisher,
        n.environment, n.bundle_id, n.subscription_key, n.said_at, n.received_at, n.relay, n.relay_attempts,
        n.relayed_at, n.relay_error
        """

    /// Index used: `notifications_newest`, backwards.
    private static let listSQL = """
        SELECT \(columns)
        FROM notifications n
        WHERE ($2::int2 IS NULL OR n.relay = $2) AND ($5::text IS NULL OR n.subscription_key = $5)
          AND ($3::timestamptz IS NULL OR (n.received_at, n.id) < ($3, $4::uuid))
        ORDER BY n.received_at DESC, n.id DESC
        LIMIT $1
        """

    private static let oneSQL = """
        SELECT \(columns), n.body
        FROM notifications n
        WHERE n.bucket = $1 AND n.accepted_on = DATE 'epoch' + $2::int4 AND n.id = $3
        """

    /// One that is being sent keeps its owner; it is sent once more after that.
    private static let replaySQL = """
        WITH again AS (
            UPDATE notifications n
            SET relay = 1, relayed_at = NULL
            WHERE n.bucket = $1 AND n.accepted_on = DATE 'epoch' + $2::int4 AND n.id = $3
            RETURNING n.*
        )
        INSERT INTO notification_relays AS r (
            bucket, accepted_on, id, due_at, said_at, received_at, publisher, environment, lane, attempts)
        SELECT a.bucket, a.accepted_on, a.id, now(), a.said_at, a.received_at, a.publisher, a.environment,
               coalesce(a.subscription_key, a.id::text), a.relay_attempts
        FROM again a
        ON CONFLICT (bucket, id) DO UPDATE SET
            due_at = CASE WHEN r.owner IS NULL THEN now() ELSE r.due_at END, stands_aside = false
        """

    /// A page, newest first.
    public func notifications(
        matching filter: NotificationFilter
    ) async throws -> (items: [OpsNotification], next: ValidationCursor?) {
        let rows = try await pool.query(
            PostgresQuery(
                Self.listSQL,
                [
                    .int4(Int32(clamping: filter.limit + 1)), .int2(filter.relay?.rawValue),
                    .timestamptz(filter.cursor?.acceptedAt.postgres), .uuid(filter.cursor?.id.uuid),
                    .text(filter.originalTransactionID),
                ]))
        let page = try rows.prefix(filter.limit).map(Self.notification)
        guard rows.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.receivedAt, id: last.id))
    }

    /// One, with its body as it came. Nil for an unknown id.
    public func notification(_ id: NotificationID) async throws -> (OpsNotification, body: [UInt8])? {
        guard let row = try await pool.query(PostgresQuery(Self.oneSQL, id.key)).first else { return nil }
        return (try Self.notification(row), try row.get(17))
    }

    /// Hears what it says once more, which changes nothing that was heard, and passes it on again.
    ///
    /// - Parameters:
    ///   - notification: read anew from its body.
    ///   - by: who wants it, as the subscription's timeline shows it.
    public func replay(
        _ archived: OpsNotification, _ notification: StoreNotification, isRelayed: Bool, leeway: Duration, by: String
    ) async throws {
        var messages = Self.messages(of: notification, publisher: archived.publisher, id: archived.id)
        for index in messages.indices {
            messages[index].note?.event = "replayed"
            messages[index].note?.detail = "\(notification.type.lowercased()), by \(by)"
            messages[index].note?.saidAt = nil
        }
        _ = try await hear(messages, leeway: leeway)
        if isRelayed { _ = try await pool.query(PostgresQuery(Self.replaySQL, archived.id.key)) }
    }

    private static func notification(_ row: PostgresRow) throws -> OpsNotification {
        let number = try row.get(13, as: Int16.self)
        guard let relay = OpsNotification.RelayStatus(rawValue: number) else {
            throw StoreError.unknownNumber(column: "relay", number: Int(number))
        }
        return OpsNotification(
            id: try row.validationID(bucket: 0, day: 1, id: 2), version: try row.get(3), uuid: try row.get(4),
            type: try row.get(5), subtype: try row.get(6), publisher: try row.get(7), environment: try row.get(8),
            bundleID: try row.get(9), originalTransactionID: try row.get(10), signedAt: try row.timestamp(11),
            receivedAt: try row.timestamp(12), relay: relay, attempts: try row.get(14),
            relayedAt: try row.timestampIfSet(15), lastError: try row.get(16))
    }
}
