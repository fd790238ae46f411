import Crypto
import Foundation
import Postgres
public import RelayCore

extension RelayStore {
    /// A repeat finds its name taken, and waits for a first one that has not committed. It is not kept twice, and acted on again:
    /// events have neither a time nor a name of their own, so the same may have happened once more. One that is parked stays so.
    private static let receiveSQL = """
        WITH named AS (
            INSERT INTO notification_names AS n (bucket, name, accepted_on, id)
            VALUES (get_byte($1, 0), $1, DATE 'epoch' + $2::int4, $3)
            ON CONFLICT (bucket, name) DO UPDATE SET id = n.id
            RETURNING bucket, accepted_on, id
        )
        INSERT INTO cleeng_events AS e (bucket, accepted_on, id, received_at, due_at, topic, body, account, sealed_by)
        SELECT bucket, accepted_on, id, now(), now(), $4, $5, $6, $7 FROM named
        ON CONFLICT (bucket, accepted_on, id) DO UPDATE SET
            received_at = now(), due_at = CASE WHEN e.parked_at IS NULL THEN now() END, attempts = 0, strikes = 0
        RETURNING e.id = $3
        """

    /// Index used: `cleeng_events_due`.
    private static let claimSQL = """
        WITH due AS MATERIALIZED (
            SELECT e.bucket, e.accepted_on, e.id
            FROM cleeng_events e
            WHERE e.due_at <= now() AND (e.account IS NULL OR e.account = ANY ($3::text[]))
            ORDER BY e.due_at
            LIMIT $1
            FOR UPDATE SKIP LOCKED
        )
        UPDATE cleeng_events e
        SET due_at = now() + $2::int8 * interval '1 microsecond', attempts = e.attempts + 1, \(WorkQueue.strike("e"))
        FROM due
        WHERE e.bucket = due.bucket AND e.accepted_on = due.accepted_on AND e.id = due.id
        RETURNING e.bucket, e.accepted_on - DATE 'epoch', e.id, e.received_at, e.attempts, clock_timestamp(),
                  ROW(e.sealed_by, e.body), e.account,
                  \(WorkQueue.columns("e"))
        """

    private static let finishSQL = """
        UPDATE cleeng_events e
        SET outcome = $4, due_at = CASE WHEN $5::int8 IS NOT NULL THEN now() + $5 * interval '1 microsecond' END,
            \(WorkQueue.cleared), trouble = NULL
        WHERE e.bucket = $1 AND e.accepted_on = DATE 'epoch' + $2::int4 AND e.id = $3
        """

    /// What is still waited for of a customer and an offer, as far as a word concerns it. What was granted, was granted on the
    /// offer; what was refused is one purchase, and where Cleeng names a synchronization, that one's. What has not been sent yet
    /// will be read anyway. Indexes used: `validations_customer`, `validations_cleeng_customer`, the primary key of `pursuits`.
    private static let waitingSQL = """
        SELECT p.bucket, p.id
        FROM (
            SELECT bucket, id FROM validations
            WHERE customer = $1 AND offer_id = $3 AND status IN (0, 3) AND \(PublisherScope.sql("publisher", from: 4))
            UNION
            SELECT bucket, id FROM validations
            WHERE cleeng_customer = $2 AND offer_id = $3 AND status IN (0, 3)
              AND \(PublisherScope.sql("publisher", from: 4))
        ) AS v
        JOIN pursuits p ON p.bucket = v.bucket AND p.id = v.id AND p.phase <> 2
        WHERE $6 OR (p.phase IN (0, 1) AND $7::text IS NULL) OR (p.phase = 4 AND p.synchronization = $7)
        LIMIT 200
        """

    /// The customer's subscriptions, of whatever offer they are now: an event may be about one that was left. Indexes used:
    /// `subscriptions_customer`, `validations_cleeng_customer`.
    private static let ownedSQL = """
        SELECT s.publisher, s.environment, s.subscription_key
        FROM subscriptions s
        WHERE \(PublisherScope.sql("s.publisher", from: 4))
          AND (s.customer = $1 OR s.customer IN (
                SELECT v.customer
                FROM validations v
                WHERE v.cleeng_customer = $2 AND \(PublisherScope.sql("v.publisher", from: 4))))
        ORDER BY s.offer_id = $3 DESC, s.owned_since DESC
        LIMIT 20
        """

    private static let isKnownSQL = """
        SELECT EXISTS (
            SELECT FROM validations v WHERE v.cleeng_customer = $1 AND \(PublisherScope.sql("v.publisher", from: 2)))
        """

    /// Whether an app has named its customer so.
    public func isKnown(cleengCustomer: Int64, of scope: PublisherScope = .common) async throws -> Bool {
        try await pool.query(
            PostgresQuery(Self.isKnownSQL, [.int8(cleengCustomer)] + scope.parameters)
        ).first?.get(0) ?? false
    }

    /// Keeps an event whose signature was good, once. A repeat is acted on again.
    ///
    /// - Parameters:
    ///   - account: the publisher whose own account at Cleeng signed it; nil for the one that publishers share.
    ///   - now: the database's time, for the day in its id.
    public func receiveEvent(
        topic: String, body: [UInt8], account: PublisherID? = nil, now: Timestamp
    ) async throws -> ReceiveOutcome {
        // Two accounts may say the same, and mean two things.
        let name = Array(SHA256.hash(data: Array("cleeng:\(account.map { "\($0):" } ?? "")".utf8) + body))
        let rows = try await pool.query(
            PostgresQuery(
                Self.receiveSQL,
                [
                    .bytea(name), .int4(Int32(now.daysSince1970)), .uuid(UUID()), .text(topic.bounded(200)),
                    .privateBytea(body), .text(account), .keyOfBytes,
                ]))
        return try rows.first?.get(0, as: Bool.self) == true ? .stored : .repeated
    }

    /// Takes events that are to be acted on, for `lease`.
    ///
    /// - Parameter own: publishers whose own accounts this copy has.
    public func claimEvents(own: [PublisherID] = [], limit: Int, lease: Duration) async throws -> [ClaimedEvent] {
        try vault.check()
        let rows = try await pool.query(
            PostgresQuery(Self.claimSQL, [.int4(Int32(limit)), .int8(lease.microseconds), .textArray(own)]))
        return try await sift(rows) {
            try ClaimedRow(.events, $0, fence: 4, columns: 8)
        } _: { row, claimed in
            ClaimedEvent(
                row: claimed, id: try row.validationID(bucket: 0, day: 1, id: 2), receivedAt: try row.timestamp(3),
                attempts: try row.get(4), now: try row.timestamp(5), body: try row.open(6), account: try row.get(7))
        }
    }

    /// Notes what came of an event.
    ///
    /// - Parameter again: after which it is acted on once more; nil: it is over.
    public func finish(_ event: ClaimedEvent, outcome: String, again: Duration? = nil) async throws {
        _ = try await pool.query(
            PostgresQuery(
                Self.finishSQL,
                event.id.key + [.text(outcome.bounded(200)), .int8(again?.microseconds)]))
    }

    /// Takes what waits for Cleeng's word, where Cleeng has taken it and nobody works on it at this moment.
    ///
    /// - Returns: those, and how many more wait that could not be taken now.
    public func claimWaiting(
        for word: UpstreamWord, of subject: EventSubject, lease: Duration
    ) async throws -> (claimed: [ClaimedPursuit], left: Int) {
        let rows = try await pool.query(
            PostgresQuery(
                Self.waitingSQL, Self.parameters(subject) + [.bool(word.isGrant), .text(word.synchronization)]))
        guard !rows.isEmpty else { return ([], 0) }
        let buckets = try rows.map { try $0.get(0, as: Int16.self) }
        let ids = try rows.map { try $0.get(1, as: UUID.self) }
        let claimed = try await claimTold(buckets: buckets, ids: ids, lease: lease)
        return (claimed, rows.count - claimed.count)
    }

    /// The subscriptions that a customer owns, those to the offer first.
    public func owned(by subject: EventSubject) async throws -> [SubscriptionName] {
        try await pool.query(PostgresQuery(Self.ownedSQL, Self.parameters(subject))).map {
            SubscriptionName(
                publisher: try $0.get(0), environment: try $0.get(1), originalTransactionID: try $0.get(2))
        }
    }

    private static func parameters(_ subject: EventSubject) -> [PostgresValue] {
        [.privateText(subject.customer), .int8(subject.cleengCustomer), .text(subject.offerID)]
            + subject.scope.parameters
    }
}
