import Foundation
import Postgres
public import RelayCore

extension PurchaseStore {
    // Conditions on more columns than the publisher compare it with `IS NOT DISTINCT FROM`, which no index serves. With
    // `=`, a plan from the time when the table was empty would use `pursuits_due` and read all rows of the publisher.

    private typealias Phase = Pursuit.Phase

    private static let unsent = Phase.unsent
    /// Phases of pursuits that Cleeng has accepted.
    private static let sent = Phase.taken
    /// Phases with a branch in each claim. Parked pursuits are never claimed.
    static let worked: [Pursuit.Phase] = unsent + sent

    /// Claims pursuits. A pursuit that cannot be processed does not stop the others; it is parked. That applies to a
    /// missing validation, to an unreadable row, and to one that was claimed too often without a release.
    ///
    /// A claimed row that still has an owner was not released: its worker died or stopped.
    ///
    /// - Parameters:
    ///   - parts: queries before the claim in its `WITH`.
    ///   - chosen: locked rows with `bucket` and `id` of the pursuits to claim.
    ///   - sending: assignments that change the right to send.
    private func claim(
        _ parts: SQL, _ chosen: SQL, for lease: Duration, sending: SQL = "", overtakes: SQL = "false",
        isOvertaken: SQL = "false"
    ) async throws -> [ClaimedPursuit] {
        try memory.vault.check()
        let sent = ContinuousClock.now
        let rows = try await database.query(
            """
            WITH \(parts), claimed AS (
                UPDATE pursuits p
                SET owner = \(.text(memory.instance)), fence = p.fence + 1, due_at = now() + \(lease), \(sending)
                    strikes = CASE WHEN p.owner IS NULL THEN 0 ELSE least(p.strikes + 1, 1000) END,
                    trouble = CASE WHEN p.owner IS NULL THEN NULL ELSE p.trouble END
                FROM \(chosen) AS chosen
                WHERE p.bucket = chosen.bucket AND p.id = chosen.id
                RETURNING p.*
            )
            SELECT \(ClaimedPursuit.columns(overtakes: overtakes, isOvertaken: isOvertaken))
            FROM claimed p
            LEFT JOIN validations v ON v.bucket = p.bucket AND v.accepted_on = p.accepted_on AND v.id = p.id
            """)
        if let row = rows.first { memory.clock.observe(try row.timestamp("now"), sent: sent) }
        var claimed: [ClaimedPursuit] = []
        var poison: [PoisonRow] = []
        for row in rows {
            do {
                claimed.append(try ClaimedPursuit(row))
            } catch let error as PostgresError where error.isUnavailable {
                // The database does not answer; the row is not at fault. It is due again when its lease expires.
                throw error
            } catch {
                poison.append(try PoisonRow(row, error))
            }
        }
        if !poison.isEmpty { await isolate(poison) }
        return claimed
    }

    /// Selects due pursuits separately for each publisher `pub`, so that the rows of one do not slow down the search
    /// for another.
    private static func due(_ phase: Phase, _ limit: Int, _ condition: SQL = "") -> SQL {
        let limit = PostgresValue.int4(Int32(limit))
        return """
            SELECT due.bucket, due.id
            FROM scoped AS pub
            CROSS JOIN LATERAL (
                SELECT p.bucket, p.id, p.due_at
                FROM pursuits p
                WHERE p.publisher = pub.id AND p.phase = \(phase) AND p.due_at <= now()
                  \(condition)
                ORDER BY p.due_at
                LIMIT \(limit)
                FOR UPDATE OF p SKIP LOCKED
            ) AS due
            ORDER BY due.due_at
            LIMIT \(limit)
            """
    }

    /// Another pursuit `q` for the subscription of `p`, in the same environment. Purchases without Apple's signature
    /// have an environment of their own, so they neither delay nor overtake signed ones. Index used:
    /// `pursuits_subscription`.
    private static let isOfSameSubscription: SQL = """
        q.bucket = p.bucket AND q.subscription_key = p.subscription_key AND q.environment = p.environment
        AND q.publisher IS NOT DISTINCT FROM p.publisher AND q.id <> p.id
        """

    /// Condition that a pursuit may be sent: no pursuit of its subscription has precedence, and none is being sent.
    ///
    /// - Parameter open: phases whose older pursuits also have precedence over pursuits of other phases.
    private static func maySend(_ open: Set<Phase>) -> SQL {
        """
        AND (p.sending OR NOT EXISTS (
            SELECT FROM pursuits q
            WHERE \(isOfSameSubscription)
              AND (q.sending
                   OR (q.phase IN \(unsent)
                       AND (q.phase = p.phase OR q.phase = ANY (\(.int2Array(open.map(\.rawValue).sorted()))))
                       AND (q.accepted_at, q.id) < (p.accepted_at, p.id) AND q.due_at <= now()))))
        """
    }

    private static let overtakes: SQL = """
        p.sending AND EXISTS (
             SELECT FROM pursuits q
             WHERE \(isOfSameSubscription) AND q.phase IN \(unsent) AND q.accepted_at < p.accepted_at)
        """

    private static let isOvertaken: SQL = """
        p.sending AND (EXISTS (
             SELECT FROM pursuits q
             WHERE \(isOfSameSubscription) AND q.accepted_at > p.accepted_at
               AND (q.phase IN \(sent) OR q.forwards > 0))
             OR EXISTS (
             SELECT FROM subscriptions s
             WHERE s.bucket = p.bucket AND s.publisher = p.publisher AND s.environment = v.environment
               AND s.subscription_key = p.subscription_key AND s.accepted_at > p.accepted_at))
        """

    /// Condition that a pursuit of the publisher `pub` and the phase `i` is due at a moment. Index used:
    /// `pursuits_due`.
    static func hasDue(at moment: SQL) -> SQL {
        """
        (SELECT true FROM pursuits p
         WHERE p.publisher = pub.id AND p.phase = i.phase AND p.due_at <= \(moment)
         LIMIT 1)
        """
    }

    /// The phases with due pursuits. Queried before each claim, since it costs a twentieth of one. Index used:
    /// `pursuits_due`, once for each publisher and phase.
    public func duePhases(of scope: PublisherScope = .common) async throws -> Set<Pursuit.Phase> {
        let sent = ContinuousClock.now
        let rows = try await database.query(
            """
            SELECT array_agg(DISTINCT i.phase) AS phases, clock_timestamp() AS now
            FROM \(PublisherScope.publishers)
            CROSS JOIN \(["phase": .int2Array(Self.worked.map(\.rawValue))] as SQLTable, as: "i")
            WHERE \(scope.includes("pub.id"))
              AND \(Self.hasDue(at: "now()"))
            """)
        guard let row = rows.first else { return [] }
        memory.clock.observe(try row.timestamp("now"), sent: sent)
        return Set((try row.get("phases", as: [Int16]?.self) ?? []).compactMap(Pursuit.Phase.init))
    }

    /// Claims due pursuits for the time of `lease`, up to a limit for each phase, the oldest first. Index used:
    /// `pursuits_due`, once for each publisher and phase, so that a claim does not read past the unclaimable rows of
    /// another publisher.
    ///
    /// Claims one sender per subscription and environment. An older due request goes before a newer one; a request that
    /// waits for its next try may be overtaken. A dead worker leaves its request due and marked as sending. Such a
    /// request may have reached Cleeng, counts as a forward, and goes before all others. If two workers claim two
    /// requests of one subscription at once, the index `pursuits_one_sender` fails one statement, which is run again.
    ///
    /// - Parameters:
    ///   - limits: highest number for each phase. A missing phase is not claimed, and its branch is left out.
    ///   - scope: publishers whose pursuits are claimed.
    ///   - shut: phases whose route is closed except for probes. An older request in such a phase does not delay a
    ///     newer one in another phase. It may be overtaken, like a request that waits for its next try. That does not
    ///     apply to a claim with a limit for the phase: the older request may be its probe, and with both, the index
    ///     would fail every repeat of the statement too.
    public func claimDue(
        _ limits: [Pursuit.Phase: Int], of scope: PublisherScope = .common, shut: Set<Pursuit.Phase> = [],
        lease: Duration
    ) async throws -> [ClaimedPursuit] {
        let maySend = Self.maySend(Set(Self.unsent).subtracting(shut.subtracting(limits.keys)))
        let phases = limits.sorted { $0.key.rawValue < $1.key.rawValue }
        guard !phases.isEmpty else { return [] }
        let scoped: SQL = "SELECT pub.id FROM \(PublisherScope.publishers) WHERE \(scope.includes("pub.id"))"
        let parts: [SQL] =
            ["scoped AS MATERIALIZED (\(scoped))"]
            + phases.map { phase, limit in
                "due_\(phase) AS MATERIALIZED (\(Self.due(phase, limit, phase.isUnsent ? maySend : "")))"
            }
        let chosen = phases.map { phase, _ -> SQL in "SELECT * FROM due_\(phase)" }
        return try await claim(
            parts.joined(", "), "(\(chosen.joined(" UNION ALL ")))", for: lease,
            sending: """
                sending = p.phase IN \(Self.unsent) AND (p.retry_at IS NULL OR p.retry_at <= now()),
                forwards = p.forwards + p.sending::int,
                """,
            overtakes: Self.overtakes, isOvertaken: Self.isOvertaken)
    }

    /// Claims due pursuits of these phases that are still pending after their deadline, while they wait for the
    /// upstream. They get no right to send: their worker only writes the timeout. Index used: `pursuits_due`, for all
    /// due pursuits of these phases. It therefore runs rarely, and only while the phases are held back.
    public func claimExpired(
        phases: [Pursuit.Phase], of scope: PublisherScope = .common, limit: Int, lease: Duration
    ) async throws -> [ClaimedPursuit] {
        try await claim(
            """
            expired AS MATERIALIZED (
                SELECT p.bucket, p.id
                FROM \(PublisherScope.publishers)
                JOIN pursuits p ON p.publisher = pub.id
                WHERE \(scope.includes("pub.id"))
                  AND p.phase = ANY (\(.int2Array(phases.map(\.rawValue)))) AND p.due_at <= now()
                  AND p.status = \(ValidationStatus.pending) AND p.deadline <= now() AND NOT p.sending
                LIMIT \(.int4(Int32(limit)))
                FOR UPDATE OF p SKIP LOCKED
            )
            """, "expired", for: lease)
    }

    /// Claims the other pursuits that wait for an entitlement of these customers, so that one read serves all. Index
    /// used: `pursuits_customer`.
    public func claimSiblings(of customers: [CustomerKey], lease: Duration) async throws -> [ClaimedPursuit] {
        let keys: SQLTable = [
            "publisher": .textArray(customers.map(\.publisher)),
            "customer": .privateTextArray(customers.map(\.customer)),
        ]
        return try await claim(
            """
            siblings AS MATERIALIZED (
                SELECT p.bucket, p.id
                FROM \(keys, as: "i")
                CROSS JOIN LATERAL (
                    SELECT p.bucket, p.id
                    FROM pursuits p
                    WHERE p.customer = i.customer AND p.publisher IS NOT DISTINCT FROM i.publisher
                      AND p.phase = \(Phase.watching) AND (p.owner IS NULL OR p.due_at <= now())
                    LIMIT 1000
                    FOR UPDATE OF p SKIP LOCKED) AS p
                LIMIT 1000
            )
            """, "siblings", for: lease)
    }

    /// Claims the older requests that `claimed` overtakes, due or not, so that their worker can end them without
    /// sending. Index used: `pursuits_subscription`.
    public func claimOvertaken(by claimed: ClaimedPursuit, lease: Duration) async throws -> [ClaimedPursuit] {
        try await claim(
            """
            older AS MATERIALIZED (
                SELECT p.bucket, p.id
                FROM pursuits p
                WHERE p.bucket = \(.int2(Int16(claimed.id.bucket.number)))
                  AND p.subscription_key = \(.text(claimed.subscriptionKey))
                  AND p.publisher IS NOT DISTINCT FROM \(.text(claimed.publisher)) AND p.phase IN \(Self.unsent)
                  AND p.accepted_at < \(.timestamptz(claimed.pursuit.acceptedAt.postgres)) AND NOT p.sending
                  AND p.environment = \(.text(claimed.environment))
                ORDER BY p.bucket, p.id
                FOR UPDATE OF p
            )
            """, "older", for: lease, isOvertaken: "true")
    }

    /// Claims the pursuits of Cleeng's statements, if Cleeng has accepted them and no worker holds them. Index used:
    /// the primary key.
    func claimSent(buckets: [Int16], ids: [UUID], lease: Duration) async throws -> [ClaimedPursuit] {
        let keys: SQLTable = ["bucket": .int2Array(buckets), "id": .uuidArray(ids)]
        return try await claim(
            """
            sent AS MATERIALIZED (
                SELECT p.bucket, p.id
                FROM \(keys, as: "i")
                JOIN pursuits p ON p.bucket = i.bucket AND p.id = i.id
                WHERE p.phase IN \(Self.sent) AND (p.owner IS NULL OR p.due_at <= now())
                ORDER BY p.bucket, p.id
                FOR UPDATE OF p SKIP LOCKED
            )
            """, "sent", for: lease)
    }
}
