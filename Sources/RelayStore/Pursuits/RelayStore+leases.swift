import Postgres
import RelayCore

extension RelayStore {
    /// The claims that are still ours, locked in the order of their keys. Whoever writes several pursuits locks them so first:
    /// two who go through the same rows in different orders wait for each other until the server ends one, a second later.
    ///
    /// `OFFSET 0` leaves the planner the primary key alone. On tables that nobody had analysed it went by `pursuits_due` and by other
    /// indexes' first column: 16 ms for twelve rows, half of all that a purchase cost PostgreSQL.
    ///
    /// - Parameter first: the number of the parameter that holds the buckets; the ids and the fences follow it.
    static func ours(_ first: Int) -> String {
        """
        SELECT i.ordinal, i.bucket, i.id
        FROM (SELECT *
              FROM unnest($\(first)::int2[], $\(first + 1)::uuid[], $\(first + 2)::int4[])
                   WITH ORDINALITY AS i(bucket, id, fence, ordinal)
              ORDER BY i.bucket, i.id) AS i
        CROSS JOIN LATERAL (
            SELECT p.fence, p.owner, p.due_at
            FROM pursuits p
            WHERE p.bucket = i.bucket AND p.id = i.id
            OFFSET 0 FOR UPDATE) AS p
        WHERE p.fence = i.fence AND p.owner IS NOT NULL AND p.due_at > now()
        """
    }

    private static let renewSQL = """
        WITH ours AS MATERIALIZED (\(ours(1)))
        UPDATE pursuits p
        SET due_at = now() + $4::int8 * interval '1 microsecond'
        FROM ours
        WHERE p.bucket = ours.bucket AND p.id = ours.id
        RETURNING p.bucket, p.accepted_on - DATE 'epoch', p.id
        """

    private static let returnSQL = """
        WITH ours AS MATERIALIZED (\(ours(1)))
        UPDATE pursuits p
        SET owner = NULL, due_at = now()
        FROM ours
        WHERE p.bucket = ours.bucket AND p.id = ours.id
        """

    /// Lengthens leases that are still ours.
    ///
    /// - Returns: those that are.
    public func renew(_ claimed: [(id: ValidationID, fence: Int32)], lease: Duration) async throws -> Set<ValidationID>
    {
        let rows = try await pool.query(
            PostgresQuery(Self.renewSQL, Self.claims(claimed) + [.int8(lease.microseconds)]), timeout: .seconds(2))
        return Set(try rows.map { try $0.validationID(bucket: 0, day: 1, id: 2) })
    }

    /// Gives leases back untouched, so that another copy goes on at once. The right to send stays with the pursuit: what was
    /// on its way when its worker was stopped may have arrived.
    public func giveBack(_ claimed: [(id: ValidationID, fence: Int32)]) async throws {
        guard !claimed.isEmpty else { return }
        _ = try await pool.query(PostgresQuery(Self.returnSQL, Self.claims(claimed)), timeout: .seconds(2))
    }

    private static func claims(_ claimed: [(id: ValidationID, fence: Int32)]) -> [PostgresValue] {
        [
            .int2Array(claimed.map { Int16($0.id.bucket.number) }), .uuidArray(claimed.map { $0.id.uuid }),
            .int4Array(claimed.map(\.fence)),
        ]
    }
}
