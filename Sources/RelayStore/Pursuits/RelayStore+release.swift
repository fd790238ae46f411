import Postgres
import RelayCore

extension RelayStore {
    /// Gives leases back with what was learned. A row whose lease has run out, has passed on or was given back already is
    /// left alone: after a lost answer the same write is made again.
    private static let releaseSQL = """
        WITH ours AS MATERIALIZED (\(ours(12))), released AS (
            UPDATE pursuits p
            SET owner = NULL, sending = false, due_at = i.due_at, phase = i.phase, retry_at = i.retry_at,
                read_at = i.read_at, forwarded_at = i.forwarded_at, forwards = i.forwards,
                entitled_before = i.entitled_before, synchronization = i.synchronization, transfers = i.transfers
            FROM unnest($12::int2[], $13::uuid[], $14::int4[], $15::timestamptz[], $16::int2[], $17::timestamptz[],
                        $18::timestamptz[], $19::timestamptz[], $20::int4[], $21::bool[], $22::text[], $23::bool[])
                 AS i(bucket, id, fence, due_at, phase, retry_at, read_at, forwarded_at, forwards, entitled_before,
                      synchronization, transfers)
            JOIN ours ON ours.bucket = i.bucket AND ours.id = i.id
            WHERE p.bucket = ours.bucket AND p.id = ours.id
            RETURNING p.bucket, p.accepted_on, p.id
        ), told AS (
            INSERT INTO timeline (\(TimelineStatement.columns))
            SELECT e.*
            FROM (\(TimelineStatement.rows)) AS e
            JOIN released r ON r.bucket = e.bucket AND r.id = e.id
        )
        SELECT bucket, accepted_on - DATE 'epoch', id FROM released
        """

    func release(_ writes: [PursuitWrite]) async throws -> [PursuitWriteOutcome] {
        let rows = try await pool.query(
            PostgresQuery(
                Self.releaseSQL,
                TimelineStatement.parameters(writes, instance: instance) + Self.resting(writes)))
        let released = Set(try rows.map { try $0.validationID(bucket: 0, day: 1, id: 2) })
        return writes.map { released.contains($0.claimed.id) ? .written : .leaseLost }
    }

    /// Twelve columns: the row, the claim, and what of the pursuit goes on.
    static func resting(_ writes: [PursuitWrite]) -> [PostgresValue] {
        func due(_ write: PursuitWrite) -> PostgresTimestamp {
            guard case .rest(let moment) = write.next else { return write.pursuit.deadline.postgres }
            return moment.postgres
        }
        return [
            .int2Array(writes.map { Int16($0.claimed.id.bucket.number) }),
            .uuidArray(writes.map { $0.claimed.id.uuid }),
            .int4Array(writes.map { $0.claimed.fence }), .timestamptzArray(writes.map(due)),
            .int2Array(writes.map { $0.pursuit.phase.rawValue }),
            .timestamptzArray(writes.map { $0.pursuit.retryAt?.postgres }),
            .timestamptzArray(writes.map { $0.pursuit.readAt?.postgres }),
            .timestamptzArray(writes.map { $0.pursuit.forwardedAt?.postgres }),
            .int4Array(writes.map { Int32(clamping: $0.pursuit.forwards) }),
            .boolArray(writes.map { $0.pursuit.entitledBefore }),
            .textArray(writes.map { $0.pursuit.synchronization }), .boolArray(writes.map { $0.pursuit.transfers }),
        ]
    }
}
