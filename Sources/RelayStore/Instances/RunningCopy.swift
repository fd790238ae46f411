import Postgres
public import RelayCore

/// A copy that has said something within half a minute.
public struct RunningCopy: Sendable {
    public var id: String
    public var role: String
    public var startedAt: Timestamp
    public var seenAt: Timestamp
    public var report: InstanceReport
}

extension RelayStore {
    private static let copiesSQL = """
        SELECT id, role, started_at, seen_at, upstream_state, upstream_since, upstream_error
        FROM instances
        WHERE seen_at > now() - interval '30 seconds'
        ORDER BY started_at, id
        LIMIT 200
        """

    /// None in the scope of a publisher: what a copy says is of all accounts that it calls.
    public func runningCopies(in scope: OpsScope) async throws -> [RunningCopy] {
        guard scope.isAll else { return [] }
        return try await pool.query(PostgresQuery(Self.copiesSQL)).map { row in
            RunningCopy(
                id: try row.get(0), role: try row.get(1), startedAt: try row.timestamp(2),
                seenAt: try row.timestamp(3),
                report: InstanceReport(
                    state: InstanceReport.UpstreamState(rawValue: try row.get(4)) ?? .degraded,
                    since: try row.timestamp(5), lastError: try row.get(6)))
        }
    }
}
