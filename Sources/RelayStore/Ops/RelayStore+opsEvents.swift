import Postgres
public import RelayCore

extension RelayStore {
    private static func list(_ condition: String) -> String {
        """
        SELECT e.bucket, e.accepted_on - DATE 'epoch', e.id, e.topic, e.account, e.received_at, e.attempts, e.outcome,
               e.trouble, e.parked_at, e.due_at
        FROM cleeng_events e
        WHERE \(condition) AND ($2::timestamptz IS NULL OR (e.received_at, e.id) < ($2, $3::uuid))
          AND \(OpsScope.sql("e.account", 4))
        ORDER BY e.received_at DESC, e.id DESC
        LIMIT $1
        """
    }

    /// Indexes used: `cleeng_events_newest`, backwards; of what is pending or parked `cleeng_events_due` and `cleeng_events_parked`.
    private static func sql(_ status: OpsEvent.Status?) -> String {
        switch status {
        case nil: list("true")
        case .handled: list("e.due_at IS NULL AND e.parked_at IS NULL")
        case .pending: list("e.due_at IS NOT NULL AND e.parked_at IS NULL")
        case .parked: list("e.parked_at IS NOT NULL")
        }
    }

    /// A page, newest first. Those of the account that publishers share may be about any of them: no scope but ``OpsScope/all`` has
    /// them.
    public func events(
        matching filter: EventFilter, in scope: OpsScope
    ) async throws -> (items: [OpsEvent], next: ValidationCursor?) {
        let rows = try await pool.query(
            PostgresQuery(
                Self.sql(filter.status),
                [
                    .int4(Int32(clamping: filter.limit + 1)), .timestamptz(filter.cursor?.acceptedAt.postgres),
                    .uuid(filter.cursor?.id.uuid), scope.parameter,
                ]))
        let page = try rows.prefix(filter.limit).map(Self.event)
        guard rows.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.receivedAt, id: last.id))
    }

    private static func event(_ row: PostgresRow) throws -> OpsEvent {
        let (parkedAt, dueAt) = (try row.timestampIfSet(9), try row.timestampIfSet(10))
        return OpsEvent(
            id: try row.validationID(bucket: 0, day: 1, id: 2), topic: try row.get(3), account: try row.get(4),
            receivedAt: try row.timestamp(5),
            status: parkedAt != nil ? .parked : dueAt != nil ? .pending : .handled, attempts: try row.get(6),
            outcome: try row.get(7), lastError: try row.get(8), parkedAt: parkedAt,
            nextTryAt: parkedAt == nil ? dueAt : nil)
    }

    // MARK: Replays

    /// Has an event acted on once more, parked or not.
    ///
    /// - Returns: false for an unknown id, and for one outside the scope.
    public func replayEvent(
        _ id: NotificationID, in scope: OpsScope, by: String, reason: String?
    ) async throws -> Bool {
        guard let owner = try await replay(.events, ClaimedRow.Key(id), in: scope, onlyParked: false) else {
            return false
        }
        try await audit(AuditEntry(actor: by, .eventReplayed, "\(id)", of: owner.publisher, reason: reason))
        return true
    }

    /// Has a parked message delivered as it is.
    ///
    /// - Returns: false where it is not parked, or outside the scope.
    public func replayParkedDelivery(
        _ id: DeliveryID, in scope: OpsScope, by: String, reason: String?
    ) async throws -> Bool {
        guard let owner = try await replay(.webhooks, ClaimedRow.Key(id), in: scope, onlyParked: true) else {
            return false
        }
        try await audit(AuditEntry(actor: by, .webhookReplayed, "\(id)", of: owner.publisher, reason: reason))
        return true
    }

    /// Has a subscription looked at now, parked or not.
    ///
    /// - Returns: false where nothing is known of it, and where it is outside the scope.
    public func replaySubscription(
        _ name: SubscriptionName, in scope: OpsScope, by: String, reason: String?
    ) async throws -> Bool {
        guard try await replay(.subscriptions, .subscription(name), in: scope, onlyParked: false) != nil else {
            return false
        }
        try await audit(
            AuditEntry(
                actor: by, .subscriptionReplayed, "\(name.environment)/\(name.originalTransactionID)",
                of: name.publisher, reason: reason))
        return true
    }
}
