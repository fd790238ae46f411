import Postgres
import RelayCore

/// One transaction's worth of ``PursuitWrite``s, in two trips to the server: with the first everything is locked and the owners are read,
/// with the second everything is written and committed.
struct Settlement: Sendable {
    let transaction: PostgresTransaction
    let instance: String

    /// What is held, and whether the validation is in the state that the pursuit names. While the pursuit is locked nobody else
    /// changes that.
    private static let holdSQL = """
        WITH ours AS MATERIALIZED (\(RelayStore.ours(1)))
        SELECT o.ordinal, coalesce(v.status = i.status, false), ROW(v.sealed_by, v.application_username)
        FROM ours o
        JOIN unnest($4::int4[], $5::int2[]) WITH ORDINALITY AS i(day, status, ordinal) ON i.ordinal = o.ordinal
        LEFT JOIN LATERAL (
            SELECT v.status, v.sealed_by, v.application_username
            FROM validations v
            WHERE v.bucket = o.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = o.id
            OFFSET 0) AS v ON true
        """

    struct Result: Sendable {
        var outcomes: [PursuitWriteOutcome]
        var changed: [Validation] = []
        /// Whose purchases changed.
        var customers: [CustomerName] = []
    }

    func run(_ writes: [PursuitWrite]) async throws -> Result {
        let grants = writes.indices.filter { writes[$0].change?.status == .granted }
        var first = [hold(writes)]
        if !grants.isEmpty { first.append(Ownership.open(grants.map { writes[$0] })) }
        let answers = try await transaction.pipeline(first)

        var outcomes = [PursuitWriteOutcome](repeating: .leaseLost, count: writes.count)
        var held: [(index: Int, grant: Ownership.Grant)] = []
        for row in answers[0] {
            let index = try row.get(0, as: Int.self) - 1
            guard try writes[index].change == nil || row.get(1, as: Bool.self) else {
                throw StoreError.missingRow("a validation in the state that its pursuit names")
            }
            outcomes[index] = .written
            if writes[index].change?.status == .granted {
                held.append((index, Ownership.Grant(write: writes[index], username: try row.open(2))))
            }
        }
        var ownership = Ownership.Judgement()
        var granted: [ValidationID: Granted] = [:]
        if answers.count > 1 {
            ownership = try Ownership.judge(held.map(\.grant), opened: answers[1])
            for (one, verdict) in zip(held, ownership.verdicts) {
                switch verdict {
                case .granted(let subscription, let ownerNo):
                    granted[one.grant.write.claimed.id] = Granted(subscription: subscription, ownerNo: ownerNo)
                case .readTooOld: outcomes[one.index] = .readTooOld
                case .ownerInDoubt(let rival): outcomes[one.index] = .ownerInDoubt(rival)
                }
            }
        }
        let settled = writes.indices.filter { outcomes[$0] == .written }.map { writes[$0] }
        guard !settled.isEmpty else { return Result(outcomes: outcomes) }
        let changed = try await write(settled, ownership, granted)
        return Result(outcomes: outcomes, changed: changed, customers: ownership.changes.map(\.customer))
    }

    private func hold(_ writes: [PursuitWrite]) -> PostgresQuery {
        PostgresQuery(
            Self.holdSQL,
            [
                .int2Array(writes.map { Int16($0.claimed.id.bucket.number) }),
                .uuidArray(writes.map { $0.claimed.id.uuid }), .int4Array(writes.map { $0.claimed.fence }),
                .int4Array(writes.map { Int32($0.claimed.id.day) }),
                .int2Array(writes.map { $0.claimed.pursuit.status.rawValue }),
            ])
    }

    /// What was decided before the deadline and is written after it is late: apps have been told so by then.
    private static let changeSQL = """
        UPDATE validations v
        SET status = i.status, reason = i.reason,
            late = i.late OR (i.status IN (1, 2) AND v.deadline <= clock_timestamp()),
            settled_at = CASE WHEN i.status IN (1, 2) AND i.settled_at < v.deadline AND v.deadline <= clock_timestamp()
                              THEN clock_timestamp() ELSE i.settled_at END,
            expires_at = i.expires_at,
            evidence = coalesce(i.evidence, v.evidence), forwards = i.forwards, entitled_before = i.entitled_before,
            owner_no = i.owner_no, subscription_key = coalesce(i.alone, v.subscription_key),
            period = CASE WHEN i.alone IS NULL THEN v.period END
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::int2[], $5::int2[], $6::text[], $7::bool[],
                    $8::timestamptz[], $9::timestamptz[], $10::text[], $11::int4[], $12::bool[], $13::int4[], $14::text[])
             AS i(bucket, day, id, from_status, status, reason, late, settled_at, expires_at, evidence, forwards,
                  entitled_before, owner_no, alone)
        WHERE v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id AND v.status = i.from_status
        RETURNING \(RelayStore.validationColumns)
        """

    /// Where nothing changed at the end, what the pursuit alone still knew would go with it.
    private static let keepSQL = """
        UPDATE validations v
        SET forwards = i.forwards, entitled_before = i.entitled_before
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::int4[], $5::bool[])
             AS i(bucket, day, id, forwards, entitled_before)
        WHERE v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
        """

    private static let finishSQL = """
        DELETE FROM pursuits p
        USING unnest($1::int2[], $2::uuid[]) AS i(bucket, id)
        WHERE p.bucket = i.bucket AND p.id = i.id
        """

    private static let restSQL = """
        UPDATE pursuits p
        SET owner = NULL, sending = false, due_at = i.due_at, phase = i.phase, retry_at = i.retry_at, read_at = i.read_at,
            forwarded_at = i.forwarded_at, forwards = i.forwards, entitled_before = i.entitled_before,
            synchronization = i.synchronization, transfers = i.transfers, status = i.status
        FROM unnest($1::int2[], $2::uuid[], $3::int4[], $4::timestamptz[], $5::int2[], $6::timestamptz[],
                    $7::timestamptz[], $8::timestamptz[], $9::int4[], $10::bool[], $11::text[], $12::bool[], $13::int2[])
             AS i(bucket, id, fence, due_at, phase, retry_at, read_at, forwarded_at, forwards, entitled_before,
                  synchronization, transfers, status)
        WHERE p.bucket = i.bucket AND p.id = i.id AND p.fence = i.fence
        """

    /// The purchase's row follows its validation, unless a fresh validation speaks for the purchase by now. Locked in the
    /// order in which the intake of repeats locks them. `OFFSET 0` leaves the planner the primary keys alone.
    static let purchasesSQL = """
        WITH held AS MATERIALIZED (
            SELECT p.bucket, p.key, i.status
            FROM (SELECT i.id, i.status, v.purchase_key
                  FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::int2[]) AS i(bucket, day, id, status)
                  CROSS JOIN LATERAL (
                      SELECT v.purchase_key
                      FROM validations v
                      WHERE v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
                      OFFSET 0) AS v
                  ORDER BY v.purchase_key) AS i
            CROSS JOIN LATERAL (
                SELECT p.bucket, p.key, p.id
                FROM purchases p
                WHERE p.bucket = get_byte(i.purchase_key, 0) AND p.key = i.purchase_key
                OFFSET 0 FOR NO KEY UPDATE) AS p
            WHERE p.id = i.id
        )
        UPDATE purchases p
        SET status = held.status
        FROM held
        WHERE p.bucket = held.bucket AND p.key = held.key
        """

    /// On what, and under which of its owners, something was granted.
    private struct Granted: Sendable {
        var subscription: SubscriptionName
        var ownerNo: Int32
    }

    private func write(
        _ writes: [PursuitWrite], _ ownership: Ownership.Judgement, _ granted: [ValidationID: Granted]
    ) async throws -> [Validation] {
        let transfers = ownership.moved
        let changes = writes.compactMap { write in write.change.map { (write: write, change: $0) } }
        let finished = writes.filter { $0.next == .finished }
        let resting = writes.filter { $0.next != .finished }
        let ids = changes.map(\.write.claimed.id)
        let statuses = changes.map(\.change.status.rawValue)
        // What was granted to the owner before ends first, then the owner changes, then it is granted to the new one: the foreign key of
        // `owner_no` is looked at after each statement.
        var queries = transfers.isEmpty ? [] : TransferStatements.queries(transfers, instance: instance)
        let ended = queries.count - 1
        queries += ownership.queries
        let settled = queries.count
        queries += [
            PostgresQuery(
                Self.changeSQL,
                Self.keys(ids) + [
                    .int2Array(changes.map { $0.write.claimed.pursuit.status.rawValue }), .int2Array(statuses),
                    .textArray(changes.map { $0.change.reason.map { $0.bounded(300) } }),
                    .boolArray(changes.map { $0.change.late }),
                    .timestamptzArray(changes.map { $0.change.at.postgres }),
                    .timestamptzArray(changes.map { $0.change.expiresAt?.postgres }),
                    .textArray(changes.map { $0.change.evidence }),
                    .int4Array(changes.map { Int32(clamping: $0.write.pursuit.forwards) }),
                    .boolArray(changes.map { $0.write.pursuit.entitledBefore }),
                    .int4Array(changes.map { granted[$0.write.claimed.id]?.ownerNo }),
                    .textArray(
                        changes.map { granted[$0.write.claimed.id]?.subscription }.map {
                            $0?.standsAlone == true ? $0?.originalTransactionID : nil
                        }),
                ]),
            TimelineStatement.insert(writes, instance: instance),
            PostgresQuery(Self.purchasesSQL, Self.keys(ids) + [.int2Array(statuses)]),
        ]
        if !finished.isEmpty {
            queries.append(
                PostgresQuery(
                    Self.finishSQL,
                    [
                        .int2Array(finished.map { Int16($0.claimed.id.bucket.number) }),
                        .uuidArray(finished.map { $0.claimed.id.uuid }),
                    ]))
        }
        let unchanged = finished.filter { $0.change == nil }
        if !unchanged.isEmpty {
            queries.append(
                PostgresQuery(
                    Self.keepSQL,
                    Self.keys(unchanged.map(\.claimed.id)) + [
                        .int4Array(unchanged.map { Int32(clamping: $0.pursuit.forwards) }),
                        .boolArray(unchanged.map { $0.pursuit.entitledBefore }),
                    ]))
        }
        if !resting.isEmpty {
            queries.append(
                PostgresQuery(
                    Self.restSQL,
                    RelayStore.resting(resting) + [.int2Array(resting.map { $0.pursuit.status.rawValue })]))
        }
        let ledgers = writes.compactMap { write in granted[write.claimed.id].map { (write, $0.subscription) } }
        if !ledgers.isEmpty { queries.append(LedgerStatements.granted(ledgers)) }
        if !ownership.changes.isEmpty { queries.append(CustomerChange.write(ownership.changes)) }

        let answers = try await transaction.commit(with: queries)
        let ends = transfers.isEmpty ? [] : try answers[ended].map(RelayStore.stored)
        return try answers[settled].map(RelayStore.stored) + ends
    }

    static func keys(_ ids: [ValidationID]) -> [PostgresValue] {
        [
            .int2Array(ids.map { Int16($0.bucket.number) }), .int4Array(ids.map { Int32($0.day) }),
            .uuidArray(ids.map(\.uuid)),
        ]
    }
}
