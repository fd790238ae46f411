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
        SELECT upstream_state, upstream_since, upstream_error, upstream_asked_at, now(), seen_at
        FROM instances
        WHERE role <> 'front'
        ORDER BY seen_at DESC
        LIMIT 200
        """

    /// Ends the error of a report whose copy has had successes on another route since. The table has no column for it.
    private static let successMark = " (other calls succeed)"

    public func report(_ report: InstanceReport, role: String) async throws {
        _ = try await pool.query(
            PostgresQuery(
                Self.reportSQL,
                [
                    .text(instance), .text(role), .text(report.state.rawValue), .timestamptz(report.since.postgres),
                    .text(report.lastError.map { report.othersSucceed ? $0 + Self.successMark : $0 }),
                    .timestamptz(report.askedAt?.postgres),
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
    public func upstream(in scope: OpsScope) async throws -> InstanceReport? { try await workers(in: scope).report }

    /// As ``upstream(in:)``, and how long ago any worker reported last; nil where none has, or all that did ended in order.
    func workers(in scope: OpsScope) async throws -> (report: InstanceReport?, lastSeen: Duration?) {
        let rows = try await pool.query(PostgresQuery(Self.reportsSQL))
        guard let first = rows.first else { return (nil, nil) }
        let (now, lastSeen) = (try first.timestamp(4), try first.timestamp(5))
        var reports: [InstanceReport] = []
        for row in rows where now - (try row.timestamp(5)) < InstanceReport.longestSilence {
            var report = try Self.instanceReport(row, 0)
            report.askedAt = try row.timestampIfSet(3)
            if !scope.isAll { report.lastError = nil }
            reports.append(report)
        }
        return (InstanceReport.worst(of: reports, at: now), now - lastSeen)
    }

    /// State, since when, and the error, from the column `first` on.
    static func instanceReport(_ row: PostgresRow, _ first: Int) throws -> InstanceReport {
        let error = try row.get(first + 2, as: String?.self)
        let hasMark = error?.hasSuffix(successMark) == true
        return InstanceReport(
            state: InstanceReport.UpstreamState(rawValue: try row.get(first)) ?? .degraded,
            since: try row.timestamp(first + 1),
            lastError: hasMark ? error.map { String($0.dropLast(successMark.count)) } : error, othersSucceed: hasMark)
    }
}
