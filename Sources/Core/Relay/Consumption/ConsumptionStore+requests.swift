import Foundation
import Postgres
public import RelayCore
import Traces

extension ConsumptionStore {
    /// Environments for which Apple's API exists.
    static let environments: [StoreEnvironment] = [.production, .sandbox]

    /// Stores Apple's request with its notification; nil if the notification is not such a request.
    static func request(in notification: StoreNotification, publisher: PublisherID, id: NotificationID) -> SQL? {
        guard let asked = notification.consumption, let key = notification.originalTransactionID,
            let bundle = notification.bundleID, environments.contains(notification.environment)
        else { return nil }
        let askedAt: SQL = "coalesce(\(.timestamptz(notification.saidAt?.postgres)), now())"
        return """
            INSERT INTO consumption_requests (
                bucket, accepted_on, id, due_at, asked_at, deadline, publisher, environment, subscription_key, transaction_id,
                bundle_id, renews, reason, trace)
            VALUES (
                \(.int2(Int16(id.bucket.number))), DATE 'epoch' + \(.int4(Int32(id.day))), \(.uuid(id.uuid)), now(), \(askedAt),
                now() + \(ConsumptionDemand.window), \(.text(publisher)), \(.text(notification.environment)), \(.text(key)),
                \(.text(asked.transactionID)), \(.text(bundle)), \(.bool(asked.renews)), \(.text(asked.reason)),
                \(.text(StoredTrace.current)))
            """
    }

    /// Claims requests that are due. Index used: `consumption_requests_due`.
    ///
    /// - Parameter limits: limit for each environment.
    public func claim(_ limits: [StoreEnvironment: Int], lease: Duration) async throws -> [ClaimedConsumption] {
        let due = limits.sorted { $0.key < $1.key }.map { environment, limit in
            """
            SELECT due.* FROM (
                SELECT r.bucket, r.accepted_on, r.id FROM consumption_requests r
                WHERE r.environment = \(.text(environment)) AND r.due_at <= now() AND r.state <= 2 AND r.parked_at IS NULL
                ORDER BY r.due_at
                LIMIT \(.int4(Int32(limit)))
                FOR UPDATE SKIP LOCKED) AS due
            """ as SQL
        }
        guard !due.isEmpty else { return [] }
        let rows = try await database.query(
            """
            WITH due AS MATERIALIZED (
                \(due.joined(" UNION ALL "))
            )
            UPDATE consumption_requests r
            SET owner = \(.text(memory.instance)), fence = r.fence + 1, attempts = r.attempts + 1, \(WorkQueue.strike("r")),
                due_at = now() + \(lease)
            FROM due
            WHERE r.bucket = due.bucket AND r.accepted_on = due.accepted_on AND r.id = due.id
            RETURNING r.bucket, r.accepted_on - DATE 'epoch' AS day, r.id, r.fence, r.attempts, r.signals, r.deadline, r.publisher,
                      r.environment, r.subscription_key, r.transaction_id, r.bundle_id, r.renews, r.trace,
                      r.answer IS NOT NULL AS was_sent, ROW(r.sealed_by, r.username) AS username, \(WorkQueue.columns("r"))
            """)
        return try await relay.queues.decode(rows) {
            try ClaimedRow(.consumption, .id($0.validationID()), fence: $0.get("fence"), $0)
        } _: { row, claimed in
            ClaimedConsumption(
                row: claimed, id: try row.validationID(), name: try row.subscriptionName(),
                transactionID: try row.get("transaction_id"), bundleID: try row.get("bundle_id"),
                renews: try row.get("renews"), deadline: try row.timestamp("deadline"),
                attempts: try row.get("attempts"), wasSent: try row.get("was_sent"), signals: try row.get("signals"),
                username: try row.open("username"), trace: try row.get("trace"))
        }
    }

    /// Stores the answer to Apple before it is sent. From then on the request counts as possibly answered.
    ///
    /// - Returns: false if another copy has claimed the request, or if the publisher's facts have changed since the
    ///   claim.
    public func note(answer: String, to claimed: ClaimedConsumption) async throws -> Bool {
        try await database.query(
            """
            UPDATE consumption_requests r SET answer = \(.text(answer))
            WHERE \(isHeld(claimed)) AND r.signals = \(.int4(claimed.signals))
            """
        ).affectedRows > 0
    }

    /// Ends a request.
    ///
    /// - Returns: false if another copy has claimed it; nothing is written then.
    public func end(
        _ claimed: ClaimedConsumption, _ state: ConsumptionState, trouble: String? = nil
    ) async throws -> Bool {
        try await database.query(
            """
            UPDATE consumption_requests r
            SET state = \(.int2(state.rawValue)), owner = NULL, due_at = 'infinity', ended_at = now(),
                trouble = \(.text(trouble?.bounded(200))), \(WorkQueue.cleared)
            WHERE \(isHeld(claimed))
            """
        ).affectedRows > 0
    }

    /// Ends the claim of an open request. If the publisher's facts changed meanwhile, it is due at once.
    public func postpone(
        _ claimed: ClaimedConsumption, _ state: ConsumptionState, trouble: String? = nil, by pause: Duration
    ) async throws {
        let isSame: SQL = "r.signals = \(.int4(claimed.signals))"
        // A request without consent has not been tried.
        let tries: SQL = state == .awaitsConsent ? "0" : "r.attempts"
        _ = try await database.query(
            """
            UPDATE consumption_requests r
            SET state = \(.int2(state.rawValue)), owner = NULL, trouble = \(.text(trouble?.bounded(200))), \(WorkQueue.cleared),
                attempts = \(tries), due_at = CASE WHEN \(isSame) THEN now() + \(pause) ELSE now() END
            WHERE \(isHeld(claimed))
            """)
    }

    private func isHeld(_ claimed: ClaimedConsumption) -> SQL {
        """
        \(claimed.id.isKey(of: "r")) AND r.fence = \(.int4(claimed.row.fence)) AND r.owner = \(.text(memory.instance))
        """
    }

    /// Deletes requests that ended long ago, a bounded number at a time. Ends parked requests whose deadline has
    /// passed. Indexes used: `consumption_requests_newest`, `consumption_requests_parked`.
    public func prune() async throws -> Int {
        _ = try await database.query(
            """
            UPDATE consumption_requests r
            SET state = \(.int2(ConsumptionState.expired.rawValue)), parked_at = NULL, owner = NULL, fence = r.fence + 1,
                due_at = 'infinity', ended_at = now()
            WHERE r.parked_at IS NOT NULL AND r.state <= 2 AND r.deadline < now()
            """)
        return try await database.query(
            """
            DELETE FROM consumption_requests r
            USING (
                SELECT bucket, accepted_on, id FROM consumption_requests
                WHERE asked_at < now() - interval '200 days' AND state > 2
                ORDER BY asked_at LIMIT 1000) AS old
            WHERE r.bucket = old.bucket AND r.accepted_on = old.accepted_on AND r.id = old.id
            """
        ).affectedRows
    }
}

/// A request from Apple that this process answers while its lease lasts.
public struct ClaimedConsumption: ClaimedItem {
    public let row: ClaimedRow
    /// Id of the notification that brought the request.
    public var id: NotificationID
    public var name: SubscriptionName
    public var transactionID: TransactionID
    public var bundleID: BundleID
    public var renews: Bool
    public var deadline: Timestamp
    /// Includes this attempt.
    public var attempts: Int
    /// Whether an answer was sent without a known result.
    public var wasSent: Bool
    var signals: Int32
    /// The customer's name found by the last attempt.
    var username: Username?
    /// Trace of the request that brought it; see ``StoredTrace``.
    public var trace: String?
}
