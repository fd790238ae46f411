import Logging
import Metrics
import Postgres
import RelayCore

extension RelayStore {
    /// `owner` stays empty and nothing claims phase 2: the row waits for an operator's retry.
    private static let parkSQL = """
        WITH held AS MATERIALIZED (
            -- In the order of ``ours``, and even where the lease has run out.
            SELECT p.bucket, p.id, i.why
            FROM unnest($1::int2[], $2::uuid[], $3::int4[], $4::text[]) AS i(bucket, id, fence, why)
            JOIN pursuits p ON p.bucket = i.bucket AND p.id = i.id AND p.fence = i.fence AND p.owner IS NOT NULL
            ORDER BY p.bucket, p.id
            FOR UPDATE OF p
        ), parked AS (
            UPDATE pursuits p
            SET phase = 2, owner = NULL, sending = false, fence = p.fence + 1, parked_at = now(), trouble = held.why
            FROM held
            WHERE p.bucket = held.bucket AND p.id = held.id
            RETURNING p.bucket, p.accepted_on, p.id, p.fence, p.trouble
        ), told AS (
            INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, event, instance, detail)
            SELECT bucket, accepted_on, id, fence, 0, now(), 17, $5, trouble FROM parked
        )
        SELECT id::text FROM parked
        """

    private static let troubleSQL = """
        UPDATE pursuits p SET trouble = $4 WHERE p.bucket = $1 AND p.id = $2 AND p.fence = $3 AND p.owner IS NOT NULL
        """

    private static let postponeSQL = """
        WITH ours AS MATERIALIZED (\(ours(1)))
        UPDATE pursuits p
        SET due_at = now() + $4::int8 * interval '1 microsecond', strikes = greatest(p.strikes - 1, 0)
        FROM ours
        WHERE p.bucket = ours.bucket AND p.id = ours.id
        """

    /// Sets a pursuit aside that cannot be gone on with for what is in it, so that it harms no other.
    public func park(_ claimed: ClaimedPursuit, why: String) async throws {
        try await park([PoisonRow(claimed, why: why)])
    }

    private func park(_ rows: [PoisonRow]) async throws {
        let parked = try await pool.query(
            PostgresQuery(
                Self.parkSQL,
                [
                    .int2Array(rows.map(\.bucket)), .uuidArray(rows.map(\.id)), .int4Array(rows.map(\.fence)),
                    .textArray(rows.map { $0.why.bounded(200) }), .text(instance),
                ]))
        guard !parked.isEmpty else { return }
        Counter(label: "relay_pursuits_parked").increment(by: parked.count)
        logger.error(
            "pursuits are parked for an operator",
            metadata: ["count": .stringConvertible(parked.count), "reason": "\(rows[0].why)"])
    }

    /// Together where it goes, else one by one. What cannot be parked now is claimed again when its lease has run out.
    func isolate(_ rows: [PoisonRow]) async {
        do {
            try await park(rows)
        } catch {
            guard rows.count > 1 else {
                logger.error("a pursuit cannot even be parked", metadata: ["error": "\(error)"])
                return
            }
            for row in rows { await isolate([row]) }
        }
    }

    /// Remembers why a claim came to nothing. The row stays as it is until its lease has run out, which is the pause before
    /// the next try.
    public func note(trouble: String, of claimed: ClaimedPursuit) async throws {
        _ = try await pool.query(
            PostgresQuery(
                Self.troubleSQL,
                [
                    .int2(Int16(claimed.id.bucket.number)), .uuid(claimed.id.uuid), .int4(claimed.fence),
                    .text(trouble.bounded(200)),
                ]), timeout: .seconds(2))
    }

    /// Leaves claimed pursuits for a while, as if they had not been claimed: they keep the strikes that they had.
    public func postpone(_ claimed: [ClaimedPursuit], by pause: Duration) async throws {
        guard !claimed.isEmpty else { return }
        _ = try await pool.query(
            PostgresQuery(
                Self.postponeSQL,
                [
                    .int2Array(claimed.map { Int16($0.id.bucket.number) }), .uuidArray(claimed.map { $0.id.uuid }),
                    .int4Array(claimed.map(\.fence)), .int8(pause.microseconds),
                ]), timeout: .seconds(2))
    }
}
