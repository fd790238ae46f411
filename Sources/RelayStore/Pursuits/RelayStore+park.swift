import Postgres
import RelayCore

extension RelayStore {
    /// `owner` stays empty and nothing claims phase 2: the row waits for an operator's retry.
    private static let parkSQL = """
        WITH parked AS (
            UPDATE pursuits p
            SET phase = 2, owner = NULL, sending = false, fence = p.fence + 1
            WHERE p.bucket = $1 AND p.accepted_on = DATE 'epoch' + $2::int4 AND p.id = $3 AND p.fence = $4
              AND p.owner IS NOT NULL
            RETURNING p.bucket, p.accepted_on, p.id, p.fence
        )
        INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, event, instance, detail)
        SELECT bucket, accepted_on, id, fence, 0, now(), 17, $5, $6 FROM parked
        """

    /// Sets a pursuit aside whose write the database refuses for what is in it, so that it harms no other.
    public func park(_ claimed: ClaimedPursuit, why: String) async throws {
        _ = try await pool.query(
            PostgresQuery(
                Self.parkSQL,
                claimed.id.key + [.int4(claimed.fence), .text(instance), .text(String(why.prefix(200)))]))
    }
}
