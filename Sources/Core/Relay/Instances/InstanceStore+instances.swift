import Postgres
import RelayCore

extension InstanceStore {
    /// Columns that ``instanceReport(_:)`` reads.
    static let reportColumns: SQL =
        "upstream_state, upstream_since, upstream_error, upstream_asked_at, seen_at, now() AS now"

    /// Role of a copy that does not call Cleeng.
    static let front = "front"

    /// Suffix of the error if the copy has had successes on another route since. The table has no column for it.
    private static let successMark = " (other calls succeed)"

    public func report(_ report: InstanceReport, role: String) async throws {
        let error = report.lastError.map { report.othersSucceed ? $0 + Self.successMark : $0 }
        _ = try await database.query(
            """
            INSERT INTO instances (
                id, role, started_at, seen_at, upstream_state, upstream_since, upstream_error, upstream_asked_at)
            VALUES (\(.text(memory.instance)), \(.text(role)), now(), now(), \(.text(report.state.rawValue)),
                    \(.timestamptz(report.since.postgres)), \(.text(error)), \(.timestamptz(report.askedAt?.postgres)))
            ON CONFLICT (id) DO UPDATE SET
                seen_at = now(), upstream_state = excluded.upstream_state, upstream_since = excluded.upstream_since,
                upstream_error = excluded.upstream_error, upstream_asked_at = excluded.upstream_asked_at
            """)
    }

    private static let isForgotten: SQL = "seen_at < now() - interval '1 hour'"

    /// Deletes this copy's row at shutdown.
    public func reportGone() async throws {
        _ = try await database.query(
            "DELETE FROM instances WHERE id = \(.text(memory.instance)) OR \(Self.isForgotten)", timeout: .seconds(1))
    }

    /// Deletes rows of copies that ended without reporting it.
    public func prune() async throws {
        _ = try await database.query("DELETE FROM instances WHERE \(Self.isForgotten)")
    }

    /// The worst upstream report of the running workers, nil if none runs; and the time since any worker last reported,
    /// nil if none has, or all shut down in order. In a publisher's scope, Cleeng's text is left out, because it may
    /// concern another account.
    func workers(in scope: OpsScope) async throws -> (report: InstanceReport?, lastSeen: Duration?) {
        let rows = try await database.query(
            """
            SELECT \(Self.reportColumns)
            FROM instances
            WHERE role <> \(.text(Self.front))
            ORDER BY seen_at DESC
            LIMIT 200
            """)
        guard let first = rows.first else { return (nil, nil) }
        let now = try first.timestamp("now")
        var reports: [InstanceReport] = []
        for row in rows where now - (try row.timestamp("seen_at")) < InstanceReport.longestSilence {
            var report = try Self.instanceReport(row)
            if !scope.isAll { report.lastError = nil }
            reports.append(report)
        }
        return (InstanceReport.worst(of: reports, at: now), now - (try first.timestamp("seen_at")))
    }

    static func instanceReport(_ row: PostgresRow) throws -> InstanceReport {
        let error = try row.get("upstream_error", as: String?.self)
        let hasMark = error?.hasSuffix(successMark) == true
        return InstanceReport(
            state: InstanceReport.UpstreamState(rawValue: try row.get("upstream_state")) ?? .degraded,
            since: try row.timestamp("upstream_since"),
            lastError: hasMark ? error.map { String($0.dropLast(successMark.count)) } : error,
            askedAt: try row.timestampIfSet("upstream_asked_at"), othersSucceed: hasMark)
    }
}
