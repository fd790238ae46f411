import Postgres
import RelayCore

extension RelayStore {
    private static let reportSQL = """
        INSERT INTO instances (
            id, role, started_at, seen_at, upstream_state, upstream_since, upstream_error, upstream_asked_at)
        VALUES ($1, $2, now(), now(), $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET
            seen_at = now(), upstream_state = excluded.upstream_state, upstream_since = excluded.upstream_since,
            upstream_error = excluded.upstream_error, upstream_asked_at = excluded.upstream_asked_at
        """

    private static let goneSQL = "DELETE FROM instances WHERE id = $1 OR seen_at < now() - interval '1 hour'"
    private static let pruneSQL = "DELETE FROM instances WHERE seen_at < now() - interval '1 hour'"

    private static let reportsSQL = """
        SELECT upstream_state, upstream_since, upstream_error, upstream_asked_at, now()
        FROM instances
        WHERE role <> 'front' AND seen_at > now() - interval '30 seconds'
        """

    public func report(_ report: InstanceReport, role: String) async throws {
        _ = try await pool.query(
            PostgresQuery(
                Self.reportSQL,
                [
                    .text(instance), .text(role), .text(report.state.rawValue), .timestamptz(report.since.postgres),
                    .text(report.lastError), .timestamptz(report.askedAt?.postgres),
                ]))
    }

    /// This copy is going.
    public func reportGone() async throws {
        _ = try await pool.query(PostgresQuery(Self.goneSQL, [.text(instance)]), timeout: .seconds(1))
    }

    /// Forgets copies that went without a word.
    public func pruneInstances() async throws {
        _ = try await pool.query(PostgresQuery(Self.pruneSQL))
    }

    /// The worst that a running worker says of the upstream; nil where none runs. In the scope of a publisher without Cleeng's words,
    /// which may be about another account.
    public func upstream(in scope: OpsScope) async throws -> InstanceReport? {
        let rows = try await pool.query(PostgresQuery(Self.reportsSQL))
        guard let first = rows.first else { return nil }
        let reports = try rows.map { row in
            InstanceReport(
                state: InstanceReport.UpstreamState(rawValue: try row.get(0)) ?? .degraded, since: try row.timestamp(1),
                lastError: scope.isAll ? try row.get(2) : nil, askedAt: try row.timestampIfSet(3))
        }
        return InstanceReport.worst(of: reports, at: try first.timestamp(4))
    }
}
