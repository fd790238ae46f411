import Foundation
import Postgres
import RelayCore

extension RelayStore {
    static let pursuitColumns =
        "p.bucket, p.accepted_on - DATE 'epoch', p.id, p.fence, p.publisher, p.subscription_key, p.customer, p.sending, p.phase, p.status, p.accepted_at, p.deadline, p.forwards, p.retry_at, p.forwarded_at, p.read_at, p.entitled_before"

    /// Takes what is due, oldest first, by `pursuits_due`.
    ///
    /// Of one subscription only one may be sending, and an older request that is due goes before a newer one; an older one
    /// that waits for its next try may be overtaken. One that is sending although it is due was left so by a worker that is
    /// gone: it may have reached Cleeng, and so goes before all others. Two workers that take two requests of one
    /// subscription in the same instant meet in `pursuits_one_sender`: one of the two statements fails, takes nothing, and is run again.
    private static let claimSQL = """
        WITH due AS MATERIALIZED (
            SELECT p.bucket, p.id
            FROM pursuits p
            WHERE p.due_at <= now() AND p.phase < 2
              AND (p.phase <> 0 OR p.sending OR NOT EXISTS (
                    SELECT FROM pursuits q
                    WHERE q.bucket = p.bucket AND q.subscription_key = p.subscription_key AND q.publisher = p.publisher
                      AND q.id <> p.id
                      AND (q.sending
                           OR (q.phase = 0 AND (q.accepted_at, q.id) < (p.accepted_at, p.id) AND q.due_at <= now()))))
            ORDER BY p.due_at
            LIMIT $1
            FOR UPDATE OF p SKIP LOCKED
        ), claimed AS (
            UPDATE pursuits p
            SET owner = $2, fence = p.fence + 1, due_at = now() + $3::int8 * interval '1 microsecond',
                sending = p.phase = 0 AND (p.retry_at IS NULL OR p.retry_at <= now())
            FROM due
            WHERE p.bucket = due.bucket AND p.id = due.id
            RETURNING p.*
        )
        SELECT \(pursuitColumns), v.email, v.offer_id,
               p.sending AND EXISTS (
                    SELECT FROM pursuits q
                    WHERE q.bucket = p.bucket AND q.subscription_key = p.subscription_key AND q.publisher = p.publisher
                      AND q.phase = 0 AND q.accepted_at < p.accepted_at AND q.id <> p.id),
               p.sending AND (EXISTS (
                    SELECT FROM pursuits q
                    WHERE q.bucket = p.bucket AND q.subscription_key = p.subscription_key AND q.publisher = p.publisher
                      AND q.accepted_at > p.accepted_at AND (q.phase = 1 OR q.forwards > 0))
                    OR EXISTS (
                    SELECT FROM subscriptions s
                    WHERE s.bucket = p.bucket AND s.publisher = p.publisher AND s.environment = v.environment
                      AND s.subscription_key = p.subscription_key AND s.accepted_at > p.accepted_at)),
               clock_timestamp()
        FROM claimed p
        JOIN validations v ON v.bucket = p.bucket AND v.accepted_on = p.accepted_on AND v.id = p.id
        """

    /// The others of the same customer that wait for an entitlement too, so that one read serves them all. Index used:
    /// `pursuits_customer`.
    private static let siblingsSQL = """
        WITH siblings AS MATERIALIZED (
            SELECT p.bucket, p.id
            FROM pursuits p
            JOIN unnest($1::text[], $2::text[]) AS i(publisher, customer)
              ON p.customer = i.customer AND p.publisher = i.publisher
            WHERE p.phase = 1 AND (p.owner IS NULL OR p.due_at <= now())
            LIMIT 1000
            FOR UPDATE OF p SKIP LOCKED
        ), claimed AS (
            UPDATE pursuits p
            SET owner = $3, fence = p.fence + 1, due_at = now() + $4::int8 * interval '1 microsecond'
            FROM siblings s
            WHERE p.bucket = s.bucket AND p.id = s.id
            RETURNING p.*
        )
        SELECT \(pursuitColumns), v.email, v.offer_id, false, false, clock_timestamp()
        FROM claimed p
        JOIN validations v ON v.bucket = p.bucket AND v.accepted_on = p.accepted_on AND v.id = p.id
        """

    /// The older requests that a claimed one goes before. Index used: `pursuits_subscription`.
    private static let overtakenSQL = """
        WITH older AS MATERIALIZED (
            SELECT p.bucket, p.id
            FROM pursuits p
            WHERE p.bucket = $1 AND p.subscription_key = $2 AND p.publisher = $3 AND p.phase = 0
              AND p.accepted_at < $4 AND NOT p.sending
            FOR UPDATE OF p
        ), claimed AS (
            UPDATE pursuits p
            SET owner = $5, fence = p.fence + 1, due_at = now() + $6::int8 * interval '1 microsecond'
            FROM older
            WHERE p.bucket = older.bucket AND p.id = older.id
            RETURNING p.*
        )
        SELECT \(pursuitColumns), v.email, v.offer_id, false, true, clock_timestamp()
        FROM claimed p
        JOIN validations v ON v.bucket = p.bucket AND v.accepted_on = p.accepted_on AND v.id = p.id
        """

    /// Takes up to `limit` pursuits that are due, for `lease`.
    public func claimDue(limit: Int, lease: Duration) async throws -> [ClaimedPursuit] {
        try await claim(
            PostgresQuery(Self.claimSQL, [.int4(Int32(limit)), .text(instance), .int8(lease.microseconds)]))
    }

    /// Takes what else waits for an entitlement of these customers.
    public func claimSiblings(of customers: [CustomerKey], lease: Duration) async throws -> [ClaimedPursuit] {
        try await claim(
            PostgresQuery(
                Self.siblingsSQL,
                [
                    .textArray(customers.map(\.publisher)), .textArray(customers.map(\.customer)), .text(instance),
                    .int8(lease.microseconds),
                ]))
    }

    /// Takes the requests that `claimed` overtakes, whether or not they are due: they are to be ended, not sent.
    public func claimOvertaken(by claimed: ClaimedPursuit, lease: Duration) async throws -> [ClaimedPursuit] {
        try await claim(
            PostgresQuery(
                Self.overtakenSQL,
                [
                    .int2(Int16(claimed.id.bucket.number)), .text(claimed.subscriptionKey), .text(claimed.publisher),
                    .timestamptz(claimed.pursuit.acceptedAt.postgres), .text(instance), .int8(lease.microseconds),
                ]))
    }

    private func claim(_ query: PostgresQuery) async throws -> [ClaimedPursuit] {
        let sent = ContinuousClock.now
        let rows = try await pool.query(query)
        let claimed = try rows.map(Self.claimedPursuit)
        if let row = rows.first { clock.observe(try row.timestamp(21), sent: sent) }
        return claimed
    }

    private static func claimedPursuit(_ row: PostgresRow) throws -> ClaimedPursuit {
        let phase = try row.get(8, as: Int16.self)
        guard let phase = Pursuit.Phase(rawValue: phase) else {
            throw StoreError.unknownNumber(column: "phase", number: Int(phase))
        }
        return ClaimedPursuit(
            id: try row.validationID(bucket: 0, day: 1, id: 2), fence: try row.get(3), publisher: try row.get(4),
            subscriptionKey: try row.get(5), customer: try row.get(6), email: try row.get(17), offerID: try row.get(18),
            isSending: try row.get(7), overtakes: try row.get(19), isOvertaken: try row.get(20),
            pursuit: Pursuit(
                phase: phase, status: try row.status(9), acceptedAt: try row.timestamp(10),
                deadline: try row.timestamp(11), forwards: try row.get(12), retryAt: try row.timestampIfSet(13),
                forwardedAt: try row.timestampIfSet(14), readAt: try row.timestampIfSet(15),
                entitledBefore: try row.get(16)))
    }
}
