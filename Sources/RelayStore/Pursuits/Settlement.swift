import Postgres
import RelayCore

/// One transaction's worth of ``PursuitWrite``s: first everything is locked and judged, then everything is written at once.
struct Settlement: Sendable {
    let transaction: PostgresTransaction
    let instance: String

    private static let holdSQL = RelayStore.ours(1)

    func run(_ writes: [PursuitWrite]) async throws -> (outcomes: [PursuitWriteOutcome], changed: [Validation]) {
        var outcomes = [PursuitWriteOutcome](repeating: .leaseLost, count: writes.count)
        var held: [Int] = []
        let keys: [PostgresValue] = [
            .int2Array(writes.map { Int16($0.claimed.id.bucket.number) }),
            .uuidArray(writes.map { $0.claimed.id.uuid }),
            .int4Array(writes.map { $0.claimed.fence }),
        ]
        for row in try await transaction.query(PostgresQuery(Self.holdSQL, keys)) {
            held.append(try row.get(0, as: Int.self) - 1)
        }
        for index in held { outcomes[index] = .written }

        let grants = held.filter { writes[$0].change?.status == .granted }
        let transfers = try await Ownership(transaction: transaction).take(grants.map { writes[$0] })
        for (index, verdict) in zip(grants, transfers.verdicts) where verdict == .readTooOld {
            outcomes[index] = .readTooOld
        }
        let settled = held.sorted().filter { outcomes[$0] == .written }.map { writes[$0] }
        guard !settled.isEmpty else { return (outcomes, []) }
        let changed = try await write(settled, transfers: transfers.moved)
        return (outcomes, changed)
    }

    private static let changeSQL = """
        UPDATE validations v
        SET status = i.status, reason = i.reason, late = i.late, settled_at = i.settled_at, expires_at = i.expires_at,
            evidence = coalesce(i.evidence, v.evidence), forwards = i.forwards, entitled_before = i.entitled_before
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::int2[], $5::int2[], $6::text[], $7::bool[],
                    $8::timestamptz[], $9::timestamptz[], $10::text[], $11::int4[], $12::bool[])
             AS i(bucket, day, id, from_status, status, reason, late, settled_at, expires_at, evidence, forwards,
                  entitled_before)
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
            forwarded_at = i.forwarded_at, forwards = i.forwards, entitled_before = i.entitled_before, status = i.status
        FROM unnest($1::int2[], $2::uuid[], $3::int4[], $4::timestamptz[], $5::int2[], $6::timestamptz[],
                    $7::timestamptz[], $8::timestamptz[], $9::int4[], $10::bool[], $11::int2[])
             AS i(bucket, id, fence, due_at, phase, retry_at, read_at, forwarded_at, forwards, entitled_before, status)
        WHERE p.bucket = i.bucket AND p.id = i.id AND p.fence = i.fence
        """

    /// The purchase's row follows its validation, unless a fresh validation speaks for the purchase by now. Locked in the
    /// order in which the intake of repeats locks them.
    static let purchasesSQL = """
        WITH held AS MATERIALIZED (
            SELECT p.bucket, p.key, i.status
            FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::int2[]) AS i(bucket, day, id, status)
            JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
            JOIN purchases p ON p.bucket = get_byte(v.purchase_key, 0) AND p.key = v.purchase_key AND p.id = v.id
            ORDER BY p.key
            FOR NO KEY UPDATE OF p
        )
        UPDATE purchases p
        SET status = held.status
        FROM held
        WHERE p.bucket = held.bucket AND p.key = held.key
        """

    private func write(_ writes: [PursuitWrite], transfers: [Ownership.Transfer]) async throws -> [Validation] {
        let changes = writes.compactMap { write in write.change.map { (write: write, change: $0) } }
        let finished = writes.filter { $0.next == .finished }
        let resting = writes.filter { $0.next != .finished }
        let ids = changes.map(\.write.claimed.id)
        let statuses = changes.map(\.change.status.rawValue)
        var queries = [
            PostgresQuery(
                Self.changeSQL,
                Self.keys(ids) + [
                    .int2Array(changes.map { $0.write.claimed.pursuit.status.rawValue }), .int2Array(statuses),
                    .textArray(changes.map { $0.change.reason.map { String($0.prefix(300)) } }),
                    .boolArray(changes.map { $0.change.late }),
                    .timestamptzArray(changes.map { $0.change.at.postgres }),
                    .timestamptzArray(changes.map { $0.change.expiresAt?.postgres }),
                    .textArray(changes.map { $0.change.evidence }),
                    .int4Array(changes.map { Int32(clamping: $0.write.pursuit.forwards) }),
                    .boolArray(changes.map { $0.write.pursuit.entitledBefore }),
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
        let granted = changes.filter { $0.change.status == .granted }.map(\.write)
        if !granted.isEmpty { queries.append(Outbox.queue(granted, transfers: transfers)) }
        if !transfers.isEmpty { queries += TransferStatements.queries(transfers, instance: instance) }

        let answers = try await transaction.pipeline(queries)
        guard answers[0].count == changes.count else {
            throw StoreError.missingRow("a validation in the state that its pursuit names")
        }
        var changed = try answers[0].map(RelayStore.stored)
        if !transfers.isEmpty, let ended = answers.last { changed += try ended.map(RelayStore.stored) }
        return changed
    }

    static func keys(_ ids: [ValidationID]) -> [PostgresValue] {
        [
            .int2Array(ids.map { Int16($0.bucket.number) }), .int4Array(ids.map { Int32($0.day) }),
            .uuidArray(ids.map(\.uuid)),
        ]
    }
}
