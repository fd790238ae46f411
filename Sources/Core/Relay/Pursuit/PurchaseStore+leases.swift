import Postgres
public import RelayCore

extension SQLTable {
    /// Keys of claims: `bucket`, `id`, `fence`.
    static func claims(_ claims: [(id: ValidationID, fence: Int32)]) -> SQLTable {
        [
            "bucket": .int2Array(claims.map { Int16($0.id.bucket.number) }), "id": .uuidArray(claims.map(\.id.uuid)),
            "fence": .int4Array(claims.map(\.fence)),
        ]
    }

    /// Input table of ``PurchaseStore/resting``: a row for each pursuit that continues, with its key, fence, next due
    /// time and new state.
    static func resting(_ writes: [PursuitWrite]) -> SQLTable {
        func due(_ write: PursuitWrite) -> PostgresTimestamp {
            guard case .rest(let moment) = write.next else { return write.pursuit.deadline.postgres }
            return moment.postgres
        }
        let states: SQLTable = [
            "due_at": .timestamptzArray(writes.map(due)), "phase": .int2Array(writes.map(\.pursuit.phase.rawValue)),
            "retry_at": .timestamptzArray(writes.map { $0.pursuit.retryAt?.postgres }),
            "read_at": .timestamptzArray(writes.map { $0.pursuit.readAt?.postgres }),
            "forwarded_at": .timestamptzArray(writes.map { $0.pursuit.watchedSince?.postgres }),
            "forwards": .int4Array(writes.map { Int32(clamping: $0.pursuit.forwards) }),
            "entitled_before": .boolArray(writes.map(\.pursuit.entitledBefore)),
            "synchronization": .textArray(writes.map(\.pursuit.synchronization)),
            "transfers": .boolArray(writes.map(\.pursuit.transfers)),
            "found_synchronization": .boolArray(writes.map(\.pursuit.foundSynchronization)),
            "refusal": .textArray(writes.map { $0.pursuit.refusal?.bounded(200) }),
        ]
        return claims(writes.map(\.claim)) + states
    }
}

extension PurchaseStore {
    /// The claims that are still valid, locked in key order. Every writer of several pursuits locks them in that order
    /// first. Two writers with different orders would wait for each other until the server ends one, a second later.
    ///
    /// `OFFSET 0` leaves the planner only the primary key. On tables without statistics it chose `pursuits_due` and the
    /// first column of other indexes. That took 16 ms for twelve rows, half of PostgreSQL's cost of a purchase.
    static func ours(_ claims: [(id: ValidationID, fence: Int32)]) -> SQL {
        """
        SELECT i.ordinal, i.bucket, i.id
        FROM (SELECT *
              FROM \(SQLTable.claims(claims), as: "i", ordinal: "ordinal")
              ORDER BY i.bucket, i.id) AS i
        CROSS JOIN LATERAL (
            SELECT p.fence, p.owner, p.due_at
            FROM pursuits p
            WHERE p.bucket = i.bucket AND p.id = i.id
            OFFSET 0 FOR UPDATE) AS p
        WHERE p.fence = i.fence AND p.owner IS NOT NULL AND p.due_at > now()
        """
    }

    private static func update(_ claims: [(id: ValidationID, fence: Int32)], set: SQL) -> SQL {
        """
        WITH ours AS MATERIALIZED (\(ours(claims)))
        UPDATE pursuits p
        SET \(set)
        FROM ours
        WHERE p.bucket = ours.bucket AND p.id = ours.id
        """
    }

    /// Extends the leases that are still valid. A row that another transaction has locked is left as it is: one that
    /// waits must not end the leases of all others.
    ///
    /// - Returns: the ids of the renewed leases, and of valid ones whose rows are locked.
    public func renew(
        _ claimed: [(id: ValidationID, fence: Int32)], lease: Duration
    ) async throws -> (renewed: Set<ValidationID>, busy: Set<ValidationID>) {
        func row(_ lock: SQL) -> SQL {
            "SELECT * FROM pursuits p WHERE p.bucket = i.bucket AND p.id = i.id OFFSET 0 \(lock)"
        }
        let isValid: SQL = "p.fence = i.fence AND p.owner IS NOT NULL AND p.due_at > now()"
        let rows = try await database.query(
            """
            WITH i AS MATERIALIZED (
                SELECT * FROM \(SQLTable.claims(claimed), as: "i") ORDER BY i.bucket, i.id
            ), free AS MATERIALIZED (
                SELECT p.bucket, p.id FROM i CROSS JOIN LATERAL (\(row("FOR UPDATE SKIP LOCKED"))) AS p WHERE \(isValid)
            ), renewed AS (
                UPDATE pursuits p SET due_at = now() + \(lease)
                FROM free
                WHERE p.bucket = free.bucket AND p.id = free.id
                RETURNING p.bucket, p.id
            )
            SELECT p.bucket, p.accepted_on - DATE 'epoch' AS day, p.id, r.id IS NOT NULL AS is_renewed
            FROM i
            CROSS JOIN LATERAL (\(row(""))) AS p
            LEFT JOIN renewed r ON r.bucket = p.bucket AND r.id = p.id
            WHERE \(isValid)
            """, timeout: .seconds(2))
        var (renewed, busy): (Set<ValidationID>, Set<ValidationID>) = ([], [])
        for row in rows {
            if try row.get("is_renewed") {
                renewed.insert(try row.validationID())
            } else {
                busy.insert(try row.validationID())
            }
        }
        return (renewed, busy)
    }

    /// Releases leases without other changes, so that another copy continues at once. The pursuit keeps the right to
    /// send: a request that its stopped worker was sending may have arrived.
    public func giveBack(_ claimed: [(id: ValidationID, fence: Int32)]) async throws {
        guard !claimed.isEmpty else { return }
        _ = try await database.query(Self.update(claimed, set: "owner = NULL, due_at = now()"), timeout: .seconds(2))
    }

    /// Postpones claimed pursuits as if they had not been claimed: they keep their earlier strikes.
    public func postpone(_ claimed: [ClaimedPursuit], by pause: Duration) async throws {
        guard !claimed.isEmpty else { return }
        let set: SQL = "due_at = now() + \(pause), strikes = greatest(p.strikes - 1, 0)"
        _ = try await database.query(Self.update(claimed.map { ($0.id, $0.fence) }, set: set), timeout: .seconds(2))
    }

    /// Releases a pursuit `p` with its new state, from a row `i` of ``SQLTable/resting(_:)``.
    static let resting: SQL = """
        owner = NULL, sending = false, due_at = i.due_at, phase = i.phase, retry_at = i.retry_at, read_at = i.read_at,
            forwarded_at = i.forwarded_at, forwards = i.forwards, entitled_before = i.entitled_before,
            synchronization = i.synchronization, transfers = i.transfers, found_synchronization = i.found_synchronization,
            refusal = i.refusal
        """

    /// Releases pursuits. A row whose lease has expired, has a new owner or was already released is not changed: after
    /// a lost answer, the same write is repeated.
    func release(_ writes: [PursuitWrite]) async throws -> [PursuitWriteOutcome] {
        let rows = try await database.query(
            """
            WITH ours AS MATERIALIZED (\(Self.ours(writes.map(\.claim)))), released AS (
                UPDATE pursuits p
                SET \(Self.resting)
                FROM \(SQLTable.resting(writes), as: "i")
                JOIN ours ON ours.bucket = i.bucket AND ours.id = i.id
                WHERE p.bucket = ours.bucket AND p.id = ours.id
                RETURNING p.bucket, p.accepted_on, p.id
            ), noted AS (
                INSERT INTO timeline (\(TimelineStatement.columns))
                SELECT e.*
                FROM (\(TimelineStatement.rows(writes, instance: memory.instance))) AS e
                JOIN released r ON r.bucket = e.bucket AND r.id = e.id
            )
            SELECT bucket, accepted_on - DATE 'epoch' AS day, id FROM released
            """)
        let released = Set(try rows.map { try $0.validationID() })
        return writes.map { released.contains($0.claimed.id) ? .written : .leaseLost }
    }
}
