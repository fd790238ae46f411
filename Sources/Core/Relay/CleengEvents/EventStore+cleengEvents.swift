import Crypto
import Foundation
import Postgres
public import RelayCore

extension EventStore {
    /// Stores an event with a valid signature. A repeat is not stored again but processed again: events have neither a
    /// time nor an id, so the same change may have happened once more. It waits if the first one is not committed yet.
    /// A parked event stays parked.
    ///
    /// - Parameters:
    ///   - account: the publisher whose own account at Cleeng signed it; nil for the shared account.
    ///   - now: the database's time, whose day becomes part of the id.
    public func receive(
        topic: String, body: [UInt8], account: PublisherID? = nil, now: Timestamp
    ) async throws -> ReceiveOutcome {
        // Two accounts may send the same bytes with different meanings.
        let digest = SHA256.hash(data: Array("cleeng:\(account.map { "\($0):" } ?? "")".utf8) + body)
        let name = PostgresValue.bytea(Array(digest))
        let id = PostgresValue.uuid(UUID())
        let rows = try await database.query(
            """
            WITH named AS (
                INSERT INTO notification_names AS n (bucket, name, accepted_on, id)
                VALUES (get_byte(\(name), 0), \(name), DATE 'epoch' + \(.int4(Int32(now.daysSince1970))), \(id))
                ON CONFLICT (bucket, name) DO UPDATE SET id = n.id
                RETURNING bucket, accepted_on, id
            )
            INSERT INTO cleeng_events AS e (
                bucket, accepted_on, id, received_at, due_at, topic, body, account, sealed_by)
            SELECT bucket, accepted_on, id, now(), now(), \(.text(topic.bounded(200))), \(.privateBytea(body)),
                   \(.text(account)), \(.keyOfBytes)
            FROM named
            ON CONFLICT (bucket, accepted_on, id) DO UPDATE SET
                received_at = now(), due_at = CASE WHEN e.parked_at IS NULL THEN now() END, attempts = 0, strikes = 0
            RETURNING e.id = \(id)
            """)
        return try rows.first?.get(0, as: Bool.self) == true ? .stored : .repeated
    }

    /// Claims events that must be processed, for `lease`. Index used: `cleeng_events_due`.
    ///
    /// - Parameter limits: limit for each account; nil is the shared account. Events of other accounts are not claimed.
    public func claim(_ limits: [PublisherID?: Int], lease: Duration) async throws -> [ClaimedEvent] {
        try memory.vault.check()
        let limits = limits.filter { $0.value > 0 }
        guard !limits.isEmpty else { return [] }
        let accounts: SQLTable = [
            "account": .textArray(limits.map(\.key)),
            "room": .int4Array(limits.map { Int32(clamping: $0.value) }),
        ]
        let rows = try await database.query(
            """
            WITH due AS MATERIALIZED (
                SELECT e.bucket, e.accepted_on, e.id
                FROM \(accounts, as: "a")
                CROSS JOIN LATERAL (
                    SELECT e.bucket, e.accepted_on, e.id
                    FROM cleeng_events e
                    WHERE e.due_at <= now() AND e.account IS NOT DISTINCT FROM a.account
                    ORDER BY e.due_at
                    LIMIT a.room
                    FOR UPDATE OF e SKIP LOCKED
                ) AS e
            )
            UPDATE cleeng_events e
            SET due_at = now() + \(lease), fence = e.fence + 1, attempts = e.attempts + 1, \(WorkQueue.strike("e"))
            FROM due
            WHERE e.bucket = due.bucket AND e.accepted_on = due.accepted_on AND e.id = due.id
            RETURNING e.bucket, e.accepted_on - DATE 'epoch' AS day, e.id, e.received_at, e.fence, e.attempts,
                      clock_timestamp() AS claimed_at, ROW(e.sealed_by, e.body) AS body, e.account,
                      \(WorkQueue.columns("e"))
            """)
        return try await relay.queues.decode(rows) {
            try ClaimedRow(.events, .id($0.validationID()), fence: $0.get("fence"), $0)
        } _: { row, claimed in
            ClaimedEvent(
                row: claimed, id: try row.validationID(), receivedAt: try row.timestamp("received_at"),
                attempts: try row.get("attempts"), now: try row.timestamp("claimed_at"), body: try row.open("body"),
                account: try row.get("account"))
        }
    }

    /// Records the outcome of an event, and ends its claim.
    ///
    /// Changes nothing if another claim has followed. The same holds if the event was received or replayed again since
    /// this claim: it is then due, and is processed again.
    ///
    /// - Parameter again: the pause before the next attempt; nil: the event is done.
    /// - Returns: whether the claim was still valid.
    @discardableResult
    public func finish(_ event: ClaimedEvent, outcome: String, again: Duration? = nil) async throws -> Bool {
        let due: SQL = again.map { "now() + \($0)" } ?? "NULL"
        let written = try await database.query(
            """
            UPDATE cleeng_events e
            SET outcome = \(.text(outcome.bounded(200))), due_at = \(due), \(WorkQueue.cleared), trouble = NULL
            WHERE e.bucket = \(.int2(Int16(event.id.bucket.number)))
              AND e.accepted_on = DATE 'epoch' + \(.int4(Int32(event.id.day))) AND e.id = \(.uuid(event.id.uuid))
              AND e.fence = \(.int4(event.row.fence)) AND e.received_at = \(.timestamptz(event.receivedAt.postgres))
              AND e.strikes > 0
            """)
        return written.affectedRows > 0
    }

    /// Subscriptions that a customer owns, whatever their present offer: an event may concern a previous offer. Those
    /// of the event's offer come first. Index used: `subscriptions_customer`.
    public func owned(by subject: EventSubject) async throws -> [SubscriptionName] {
        try await database.query(
            """
            SELECT s.publisher, s.environment, s.subscription_key
            FROM (SELECT * FROM subscriptions s WHERE s.customer = \(.privateText(subject.customer)) OFFSET 0) AS s
            WHERE \(subject.scope.includes("s.publisher"))
            ORDER BY s.offer_id = \(.text(subject.offerID)) DESC, s.owned_since DESC
            LIMIT 20
            """
        ).map { row in
            SubscriptionName(
                publisher: try row.get("publisher"), environment: try row.get("environment"),
                originalTransactionID: try row.get("subscription_key"))
        }
    }
}

/// An event from Cleeng that this process handles while its lease lasts.
public struct ClaimedEvent: ClaimedItem {
    public let row: ClaimedRow
    public var id: NotificationID
    public var receivedAt: Timestamp
    public var attempts: Int
    /// Time of the claim by the database's clock.
    public var now: Timestamp
    public var body: Private<[UInt8]>
    /// The publisher whose own account at Cleeng sent it; nil: the shared account.
    public var account: PublisherID?
}

/// The customer and offer that an event concerns.
public struct EventSubject: Sendable {
    public var customer: CustomerID
    public var offerID: OfferID
    /// Publishers that the event's Cleeng account serves.
    public var scope: PublisherScope

    public init(customer: CustomerID, offerID: OfferID, scope: PublisherScope = .common) {
        self.scope = scope
        self.customer = customer
        self.offerID = offerID
    }
}

extension ClaimedEvent: LeasedItem {}
