import Postgres
public import RelayCore

extension OpsStore {
    /// A page of events, newest first. Events of the shared account may concern any of its publishers, so only
    /// ``OpsScope/all`` includes them. Indexes used: `cleeng_events_newest`, backwards; for pending or parked events
    /// `cleeng_events_due` and `cleeng_events_parked`.
    public func events(
        matching filter: EventFilter, in scope: OpsScope
    ) async throws -> (items: [OpsEvent], next: ValidationCursor?) {
        let hasStatus: SQL =
            switch filter.status {
            case nil: "true"
            case .handled: "e.due_at IS NULL AND e.parked_at IS NULL"
            case .pending: "e.due_at IS NOT NULL AND e.parked_at IS NULL"
            case .parked: "e.parked_at IS NOT NULL"
            }
        let receivedAt = PostgresValue.timestamptz(filter.cursor?.acceptedAt.postgres)
        let rows = try await database.query(
            """
            SELECT e.bucket, e.accepted_on - DATE 'epoch' AS day, e.id, e.topic, e.account, e.received_at, e.attempts, e.outcome,
                   e.trouble, e.parked_at, e.due_at
            FROM cleeng_events e
            WHERE \(hasStatus) AND (\(receivedAt) IS NULL OR (e.received_at, e.id) < (\(receivedAt), \(.uuid(filter.cursor?.id.uuid))))
              AND \(scope.includes("e.account"))
            ORDER BY e.received_at DESC, e.id DESC
            LIMIT \(.int4(Int32(clamping: filter.limit + 1)))
            """)
        let page = try rows.prefix(filter.limit).map(Self.event)
        guard rows.count > filter.limit, let last = page.last else { return (page, nil) }
        return (page, ValidationCursor(acceptedAt: last.receivedAt, id: last.id))
    }

    private static func event(_ row: PostgresRow) throws -> OpsEvent {
        let (parkedAt, dueAt) = (try row.timestampIfSet("parked_at"), try row.timestampIfSet("due_at"))
        return OpsEvent(
            id: try row.validationID(), topic: try row.get("topic"), account: try row.get("account"),
            receivedAt: try row.timestamp("received_at"),
            status: parkedAt != nil ? .parked : dueAt != nil ? .pending : .handled, attempts: try row.get("attempts"),
            outcome: try row.get("outcome"), lastError: try row.get("trouble"), parkedAt: parkedAt,
            nextTryAt: parkedAt == nil ? dueAt : nil)
    }

    // MARK: Replays

    /// Makes an event due for processing again, parked or not.
    ///
    /// - Returns: the event's publisher; nil if the id is unknown or outside the scope.
    public func replayEvent(_ id: NotificationID, in scope: OpsScope) async throws -> OpsScope? {
        try await relay.queues.replay(.events, ClaimedRow.Key(id), in: scope, onlyParked: false)
    }

    /// Makes a parked message due for delivery, unchanged.
    ///
    /// - Returns: the message's publisher; nil if the message is not parked or outside the scope.
    public func replayParkedDelivery(_ id: DeliveryID, in scope: OpsScope) async throws -> OpsScope? {
        try await relay.queues.replay(.webhooks, ClaimedRow.Key(id), in: scope, onlyParked: true)
    }

    /// Makes a subscription due for evaluation now, parked or not. If its question to a store is parked, that becomes
    /// due too.
    ///
    /// - Returns: false if the subscription is unknown or outside the scope.
    public func replaySubscription(_ name: SubscriptionName, in scope: OpsScope) async throws -> Bool {
        // The ledger is locked first, as in settlements.
        let isKnown =
            try await relay.queues.replay(.subscriptions, .subscription(name), in: scope, onlyParked: false) != nil
        var question = name
        question.environment = .unknown
        let isAsked = try await relay.queues.replay(.questions, .subscription(question), in: scope, onlyParked: true)
        if isAsked != nil { database.afterCommit { memory.signal(.questions) } }
        return isKnown
    }
}
