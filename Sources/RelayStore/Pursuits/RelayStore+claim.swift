import Foundation
import Postgres
import RelayCore

extension RelayStore {
    // Where a row is looked for by more than its publisher, the publisher is compared by `IS NOT DISTINCT FROM`, which no index serves: a
    // plan that the server made while the table was empty would else find it by `pursuits_due`, among all of that publisher's.

    static let pursuitColumns =
        "p.bucket, p.accepted_on - DATE 'epoch', p.id, p.fence, p.publisher, p.subscription_key, ROW(p.sealed_by, p.customer), p.sending, p.phase, p.status, p.accepted_at, p.deadline, p.forwards, p.retry_at, p.forwarded_at, p.read_at, p.entitled_before"

    /// A row that still has an owner when it is claimed was not given back: whoever had it died, or stopped in the middle.
    private static let strikes = """
        strikes = CASE WHEN p.owner IS NULL THEN 0 ELSE least(p.strikes + 1, 1000) END,
        trouble = CASE WHEN p.owner IS NULL THEN NULL ELSE p.trouble END
        """

    /// A claim makes no row of its own vanish: one whose validation is gone comes back all the same, and is parked.
    private static let fromClaimed = """
        FROM claimed p
        LEFT JOIN validations v ON v.bucket = p.bucket AND v.accepted_on = p.accepted_on AND v.id = p.id
        """

    /// What a claim returns.
    private static func columns(overtakes: String = "false", isOvertaken: String = "false") -> String {
        "\(pursuitColumns), ROW(v.sealed_by, v.email), v.offer_id, \(overtakes), \(isOvertaken), clock_timestamp(), p.strikes, p.trouble, p.synchronization, p.transfers, v.verification, CASE WHEN p.phase IN (3, 4) THEN v.period END, v.trace, p.environment"
    }

    /// Of each publisher by itself, so that what waits for one's account is not looked through for the others.
    private static func due(_ phase: Pursuit.Phase, _ limit: String, _ condition: String = "") -> String {
        """
        SELECT due.bucket, due.id
        FROM \(PublisherScope.publishersSQL)
        CROSS JOIN LATERAL (
            SELECT p.bucket, p.id, p.due_at
            FROM pursuits p
            WHERE p.publisher = pub.id AND p.phase = \(phase.rawValue) AND p.due_at <= now()
              \(condition)
            ORDER BY p.due_at
            LIMIT \(limit)
            FOR UPDATE OF p SKIP LOCKED
        ) AS due
        WHERE \(PublisherScope.sql("pub.id", from: 8))
        ORDER BY due.due_at
        LIMIT \(limit)
        """
    }

    /// Another pursuit `q` for the subscription of `p`, in the same environment: what Apple did not sign is in one of its own, and neither
    /// holds up nor overtakes what it did. Index used: `pursuits_subscription`.
    private static let isOfSameSubscription = """
        q.bucket = p.bucket AND q.subscription_key = p.subscription_key AND q.environment = p.environment
        AND q.publisher IS NOT DISTINCT FROM p.publisher AND q.id <> p.id
        """

    /// That may be sent: nothing older of the same subscription goes before it, and nothing of it is being sent.
    private static let maySend = """
        AND (p.sending OR NOT EXISTS (
            SELECT FROM pursuits q
            WHERE \(isOfSameSubscription)
              AND (q.sending
                   OR (q.phase IN (0, 3) AND (q.phase = p.phase OR q.phase = ANY ($7::int2[]))
                       AND (q.accepted_at, q.id) < (p.accepted_at, p.id) AND q.due_at <= now()))))
        """

    private static let overtakes = """
        p.sending AND EXISTS (
             SELECT FROM pursuits q
             WHERE \(isOfSameSubscription) AND q.phase IN (0, 3) AND q.accepted_at < p.accepted_at)
        """

    private static let isOvertaken = """
        p.sending AND (EXISTS (
             SELECT FROM pursuits q
             WHERE \(isOfSameSubscription) AND q.accepted_at > p.accepted_at
               AND (q.phase IN (1, 4) OR q.forwards > 0))
             OR EXISTS (
             SELECT FROM subscriptions s
             WHERE s.bucket = p.bucket AND s.publisher = p.publisher AND s.environment = v.environment
               AND s.subscription_key = p.subscription_key AND s.accepted_at > p.accepted_at))
        """

    /// Takes what is due: of each phase so many, the oldest first. Index used: `pursuits_due`, once for each publisher and phase, so
    /// that a crowd that may not go now is not looked through for the others.
    ///
    /// Of one subscription and environment only one may be sending, and an older request that is due goes before a newer one; an older one
    /// that waits for its next try may be overtaken. One that is sending although it is due was left so by a worker that is
    /// gone: it may have reached Cleeng, is counted as a forward, and goes before all others. Two workers that take two requests of one
    /// subscription in the same instant meet in `pursuits_one_sender`: one of the two statements fails, takes nothing, and is run again.
    private static let claimSQL = """
        WITH to_forward AS MATERIALIZED (
            \(due(.forwarding, "$1", maySend))
        ), to_register AS MATERIALIZED (
            \(due(.registering, "$5", maySend))
        ), to_read AS MATERIALIZED (
            \(due(.watching, "$2"))
        ), to_follow AS MATERIALIZED (
            \(due(.synchronizing, "$6"))
        ), claimed AS (
            UPDATE pursuits p
            SET owner = $3, fence = p.fence + 1, due_at = now() + $4::int8 * interval '1 microsecond',
                sending = p.phase IN (0, 3) AND (p.retry_at IS NULL OR p.retry_at <= now()),
                forwards = p.forwards + p.sending::int, \(strikes)
            FROM (SELECT * FROM to_forward UNION ALL SELECT * FROM to_register UNION ALL SELECT * FROM to_read
                  UNION ALL SELECT * FROM to_follow) AS due
            WHERE p.bucket = due.bucket AND p.id = due.id
            RETURNING p.*
        )
        SELECT \(columns(overtakes: overtakes, isOvertaken: isOvertaken))
        \(fromClaimed)
        """

    /// Those whose deadline has come while they wait for the upstream: only to be written, not to be sent. Index used:
    /// `pursuits_due`, over all that are due in these phases: asked once in a while, and only while they are held back.
    private static let expiredSQL = """
        WITH expired AS MATERIALIZED (
            SELECT p.bucket, p.id
            FROM \(PublisherScope.publishersSQL)
            JOIN pursuits p ON p.publisher = pub.id
            WHERE \(PublisherScope.sql("pub.id", from: 5))
              AND p.phase = ANY ($1::int2[]) AND p.due_at <= now() AND p.status = 0 AND p.deadline <= now()
              AND NOT p.sending
            LIMIT $2
            FOR UPDATE OF p SKIP LOCKED
        ), claimed AS (
            UPDATE pursuits p
            SET owner = $3, fence = p.fence + 1, due_at = now() + $4::int8 * interval '1 microsecond', \(strikes)
            FROM expired
            WHERE p.bucket = expired.bucket AND p.id = expired.id
            RETURNING p.*
        )
        SELECT \(columns())
        \(fromClaimed)
        """

    /// The others of the same customer that wait for an entitlement too, so that one read serves them all. Index used:
    /// `pursuits_customer`.
    private static let siblingsSQL = """
        WITH siblings AS MATERIALIZED (
            SELECT p.bucket, p.id
            FROM pursuits p
            JOIN unnest($1::text[], $2::text[]) AS i(publisher, customer)
              ON p.customer = i.customer AND p.publisher IS NOT DISTINCT FROM i.publisher
            WHERE p.phase = 1 AND (p.owner IS NULL OR p.due_at <= now())
            LIMIT 1000
            FOR UPDATE OF p SKIP LOCKED
        ), claimed AS (
            UPDATE pursuits p
            SET owner = $3, fence = p.fence + 1, due_at = now() + $4::int8 * interval '1 microsecond', \(strikes)
            FROM siblings s
            WHERE p.bucket = s.bucket AND p.id = s.id
            RETURNING p.*
        )
        SELECT \(columns())
        \(fromClaimed)
        """

    /// Those that Cleeng has said something of, where Cleeng has taken them and nobody holds them. Index used: the primary key.
    private static let toldSQL = """
        WITH told AS MATERIALIZED (
            SELECT p.bucket, p.id
            FROM unnest($1::int2[], $2::uuid[]) AS i(bucket, id)
            JOIN pursuits p ON p.bucket = i.bucket AND p.id = i.id
            WHERE p.phase IN (1, 4) AND (p.owner IS NULL OR p.due_at <= now())
            ORDER BY p.bucket, p.id
            FOR UPDATE OF p SKIP LOCKED
        ), claimed AS (
            UPDATE pursuits p
            SET owner = $3, fence = p.fence + 1, due_at = now() + $4::int8 * interval '1 microsecond', \(strikes)
            FROM told t
            WHERE p.bucket = t.bucket AND p.id = t.id
            RETURNING p.*
        )
        SELECT \(columns())
        \(fromClaimed)
        """

    /// The older requests that a claimed one goes before. Index used: `pursuits_subscription`.
    private static let overtakenSQL = """
        WITH older AS MATERIALIZED (
            SELECT p.bucket, p.id
            FROM pursuits p
            WHERE p.bucket = $1 AND p.subscription_key = $2 AND p.publisher IS NOT DISTINCT FROM $3 AND p.phase IN (0, 3)
              AND p.accepted_at < $4 AND NOT p.sending AND p.environment = $7
            ORDER BY p.bucket, p.id
            FOR UPDATE OF p
        ), claimed AS (
            UPDATE pursuits p
            SET owner = $5, fence = p.fence + 1, due_at = now() + $6::int8 * interval '1 microsecond', \(strikes)
            FROM older
            WHERE p.bucket = older.bucket AND p.id = older.id
            RETURNING p.*
        )
        SELECT \(columns(isOvertaken: "true"))
        \(fromClaimed)
        """

    /// Takes pursuits that are due, for `lease`.
    ///
    /// - Parameters:
    ///   - limits: of each phase so many at most; none of one that is left out.
    ///   - scope: whose.
    ///   - shut: phases that nothing is taken of but to probe with. An older request that is held back there does not hold up a
    ///     newer one of another phase, which goes before it as it would before one that waits for its next try.
    public func claimDue(
        _ limits: [Pursuit.Phase: Int], of scope: PublisherScope = .common, shut: Set<Pursuit.Phase> = [],
        lease: Duration
    ) async throws -> [ClaimedPursuit] {
        func limit(_ phase: Pursuit.Phase) -> PostgresValue { .int4(Int32(limits[phase] ?? 0)) }
        return try await claim(
            PostgresQuery(
                Self.claimSQL,
                [
                    limit(.forwarding), limit(.watching), .text(instance), .int8(lease.microseconds),
                    limit(.registering), limit(.synchronizing),
                    .int2Array(
                        Set([.forwarding, .registering]).subtracting(shut).map(\Pursuit.Phase.rawValue).sorted()),
                ] + scope.parameters))
    }

    /// Takes pending pursuits of these phases that are due and past their deadline, without the right to send.
    public func claimExpired(
        phases: [Pursuit.Phase], of scope: PublisherScope = .common, limit: Int, lease: Duration
    ) async throws -> [ClaimedPursuit] {
        try await claim(
            PostgresQuery(
                Self.expiredSQL,
                [.int2Array(phases.map(\.rawValue)), .int4(Int32(limit)), .text(instance), .int8(lease.microseconds)]
                    + scope.parameters))
    }

    /// Takes what else waits for an entitlement of these customers.
    public func claimSiblings(of customers: [CustomerKey], lease: Duration) async throws -> [ClaimedPursuit] {
        try await claim(
            PostgresQuery(
                Self.siblingsSQL,
                [
                    .textArray(customers.map(\.publisher)), .privateTextArray(customers.map(\.customer)),
                    .text(instance),
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
                    .text(claimed.environment),
                ]))
    }

    func claimTold(buckets: [Int16], ids: [UUID], lease: Duration) async throws -> [ClaimedPursuit] {
        try await claim(
            PostgresQuery(
                Self.toldSQL,
                [.int2Array(buckets), .uuidArray(ids), .text(instance), .int8(lease.microseconds)]))
    }

    /// What cannot be made sense of, and what nobody ever got through with, is parked: its neighbours go on.
    private func claim(_ query: PostgresQuery) async throws -> [ClaimedPursuit] {
        try vault.check()
        let sent = ContinuousClock.now
        let rows = try await pool.query(query)
        if let row = rows.first { clock.observe(try row.timestamp(21), sent: sent) }
        var claimed: [ClaimedPursuit] = []
        var poison: [PoisonRow] = []
        for row in rows {
            do {
                claimed.append(try ClaimedPursuit(row))
            } catch let error as PostgresError where error.isUnavailable {
                // Not for what is in the row: it comes again when its lease is over.
                throw error
            } catch {
                poison.append(try PoisonRow(row, error))
            }
        }
        if !poison.isEmpty { await isolate(poison) }
        return claimed
    }
}
