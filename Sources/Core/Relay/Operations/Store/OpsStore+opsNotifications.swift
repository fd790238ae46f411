import Postgres
public import RelayCore

extension OpsStore {
    /// Relay status of `notifications n` with `notification_relays r` and `store_questions q`.
    private static let relayStatus: SQL = """
        CASE WHEN r.parked_at IS NOT NULL OR q.parked_at IS NOT NULL THEN \(OpsNotification.RelayStatus.parked)
             WHEN q.bucket IS NOT NULL THEN \(OpsNotification.RelayStatus.pending) ELSE n.relay END
        """

    private static let notificationColumns: SQL = """
        n.bucket, n.accepted_on - DATE 'epoch' AS day, n.id, n.store, n.version, n.notification_uuid, n.type, n.subtype, n.publisher,
        n.environment, n.bundle_id, n.subscription_key, n.said_at, n.received_at, n.type_is_unknown,
        (\(relayStatus))::int2 AS relay, coalesce(q.attempts, n.relay_attempts) AS relay_attempts, n.relayed_at,
        coalesce(CASE WHEN r.parked_at IS NOT NULL THEN r.trouble END, q.trouble, n.relay_error) AS last_error
        """

    private static let joined: SQL = "notifications n \(queues)"

    /// Joins the queues of relays to Cleeng and of questions to stores. Indexes used: the primary keys.
    private static let queues: SQL = """
        LEFT JOIN notification_relays r ON r.bucket = n.bucket AND r.id = n.id
        LEFT JOIN store_questions q
            ON n.store <> 'apple' AND q.bucket = n.bucket AND q.publisher = n.publisher
            AND q.environment = n.environment AND q.subscription_key = n.subscription_key
        """

    /// A page of notifications, newest first.
    public func notifications(
        matching filter: NotificationFilter, in scope: OpsScope
    ) async throws -> (items: [OpsNotification], next: ValidationCursor?) {
        let source: SQL
        if let key = filter.originalTransactionID {
            // Index used: `notifications_subscription`.
            let buckets = relay.publishers.buckets(of: key, try await relay.publishers.ids(in: scope))
            source = "\(Self.joined) WHERE n.bucket = ANY (\(buckets)) AND n.subscription_key = \(.text(key)) AND"
        } else if filter.relay == .pending || filter.relay == .parked {
            // Waiting and parked notifications are in a queue. A question that several notifications share names the
            // newest. Index used: the primary key.
            source = """
                (SELECT w.bucket, w.accepted_on, w.id FROM notification_relays w
                 UNION ALL SELECT w.bucket, w.accepted_on, w.notification FROM store_questions w) AS w
                JOIN notifications n ON n.bucket = w.bucket AND n.accepted_on = w.accepted_on AND n.id = w.id
                \(Self.queues)
                WHERE
                """
        } else {
            // Index used: `notifications_newest`, backwards.
            source = "\(Self.joined) WHERE"
        }
        let relay = PostgresValue.int2(filter.relay?.rawValue)
        let receivedAt = PostgresValue.timestamptz(filter.cursor?.acceptedAt.postgres)
        let rows = try await database.query(
            """
            SELECT \(Self.notificationColumns) FROM \(source)
              (\(relay) IS NULL OR \(relay) = \(Self.relayStatus))
              AND (\(receivedAt) IS NULL OR (n.received_at, n.id) < (\(receivedAt), \(.uuid(filter.cursor?.id.uuid))))
              AND \(scope.includes("n.publisher"))
            ORDER BY n.received_at DESC, n.id DESC
            LIMIT \(.int4(Int32(clamping: filter.limit + 1)))
            """)
        let page = try rows.prefix(filter.limit).map(Self.notification)
        guard rows.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.receivedAt, id: last.id))
    }

    /// A notification with its body as received. Nil if the id is unknown or outside the scope.
    public func notification(
        _ id: NotificationID, in scope: OpsScope
    ) async throws -> (OpsNotification, body: Private<[UInt8]>)? {
        let rows = try await database.query(
            """
            SELECT \(Self.notificationColumns), ROW(n.sealed_by, n.body) AS body
            FROM \(Self.joined)
            WHERE \(id.isKey(of: "n")) AND \(scope.includes("n.publisher"))
            """)
        return try rows.first.map { (try Self.notification($0), try $0.open("body")) }
    }

    /// Processes a stored notification again: records its statements, which changes nothing if they are known, and
    /// forwards it. For stores other than Apple's, asks the store again. A notification that was not understood before
    /// takes full effect.
    ///
    /// - Parameters:
    ///   - archived: the stored notification, from the operator's scope.
    ///   - notification: decoded again from the stored body.
    ///   - by: name of the operator in the subscription's timeline.
    public func replay(
        _ archived: OpsNotification, _ notification: StoreNotification, isRelayed: Bool, by: String
    ) async throws {
        _ = try await relay.queues.replay(.consumption, .id(archived.id), in: .all, onlyParked: true)
        let questions = QuestionStore.ask(after: notification, publisher: archived.publisher, id: archived.id)
        if !questions.isEmpty {
            for question in questions { _ = try await database.query(question) }
            if let key = archived.originalTransactionID {
                let name = SubscriptionName(
                    publisher: archived.publisher, environment: .unknown, originalTransactionID: key)
                _ = try await relay.queues.replay(.questions, .subscription(name), in: .all, onlyParked: true)
            }
            return database.afterCommit { memory.signal(.questions) }
        }
        var publisher = archived.publisher
        if !archived.isUnderstood, notification.isUnderstood {
            publisher = try await relay.notifications.complete(archived, by: notification)
        }
        var messages = NotificationStore.messages(of: notification, publisher: publisher, id: archived.id)
        for index in messages.indices {
            messages[index].note?.event = "replayed"
            messages[index].note?.detail = "\(notification.type.lowercased()), by \(by)"
            messages[index].note?.saidAt = nil
        }
        _ = try await relay.subscriptions.record(messages)
        if isRelayed { _ = try await database.query(Self.relayAgain(archived.id)) }
    }

    /// Queues a notification for forwarding. One that is being sent keeps its owner, and is sent once more afterwards.
    /// The queue's row is locked first, in the senders' order.
    private static func relayAgain(_ id: NotificationID) -> SQL {
        """
        WITH again AS (
            INSERT INTO notification_relays AS r (
                bucket, accepted_on, id, due_at, said_at, received_at, publisher, environment, lane, attempts)
            SELECT n.bucket, n.accepted_on, n.id, now(), n.said_at, n.received_at, n.publisher, n.environment,
                   coalesce(n.subscription_key, n.id::text), n.relay_attempts
            FROM notifications n
            WHERE \(id.isKey(of: "n"))
            ON CONFLICT (bucket, id) DO UPDATE SET
                \(WorkQueue.cleared), parked_at = NULL, again = r.owner IS NOT NULL,
                due_at = CASE WHEN r.owner IS NULL THEN now() ELSE r.due_at END,
                stands_aside = r.stands_aside AND r.owner IS NOT NULL
            RETURNING bucket, accepted_on, id
        )
        UPDATE notifications n
        SET relay = \(OpsNotification.RelayStatus.pending), relayed_at = NULL
        FROM again a
        WHERE n.bucket = a.bucket AND n.accepted_on = a.accepted_on AND n.id = a.id
        """
    }

    private static func notification(_ row: PostgresRow) throws -> OpsNotification {
        OpsNotification(
            id: try row.validationID(), store: try row.get("store"), version: try row.get("version"),
            uuid: try row.get("notification_uuid"),
            type: try row.get("type"), subtype: try row.get("subtype"), publisher: try row.get("publisher"),
            environment: try row.get("environment"), bundleID: try row.get("bundle_id"),
            originalTransactionID: try row.get("subscription_key"), signedAt: try row.timestamp("said_at"),
            receivedAt: try row.timestamp("received_at"), relay: try row.constant("relay"),
            attempts: try row.get("relay_attempts"), relayedAt: try row.timestampIfSet("relayed_at"),
            lastError: try row.get("last_error"), isOfUnknownType: try row.get("type_is_unknown"))
    }
}
