import Postgres
import RelayCore

extension RelayStore {
    private static let reportSQL = """
        INSERT INTO instances (id, role, started_at, seen_at, upstream_state, upstream_since, upstream_error)
        VALUES ($1, $2, now(), now(), $3, $4, $5)
        ON CONFLICT (id) DO UPDATE SET
            seen_at = now(), upstream_state = excluded.upstream_state, upstream_since = excluded.upstream_since,
            upstream_error = excluded.upstream_error
        """

    private static let goneSQL = "DELETE FROM instances WHERE id = $1 OR seen_at < now() - interval '1 hour'"

    private static let worstSQL = """
        SELECT upstream_state, upstream_since, upstream_error
        FROM instances
        WHERE role <> 'front' AND seen_at > now() - interval '30 seconds'
        """

    public func report(_ report: InstanceReport, role: String) async throws {
        _ = try await pool.query(
            PostgresQuery(
                Self.reportSQL,
                [
                    .text(instance), .text(role), .text(report.state.rawValue), .timestamptz(report.since.postgres),
                    .text(report.lastError),
                ]))
    }

    /// This copy is going.
    public func reportGone() async throws {
        _ = try await pool.query(PostgresQuery(Self.goneSQL, [.text(instance)]), timeout: .seconds(1))
    }

    /// The worst that a running worker says of the upstream; nil where none runs.
    public func upstream() async throws -> InstanceReport? {
        try await pool.query(PostgresQuery(Self.worstSQL)).map { row in
            InstanceReport(
                state: InstanceReport.UpstreamState(rawValue: try row.get(0)) ?? .degraded, since: try row.timestamp(1),
                lastError: try row.get(2))
        }.max { $0.state.severity < $1.state.severity }
    }
}
