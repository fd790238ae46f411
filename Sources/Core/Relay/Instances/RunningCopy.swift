import Postgres
public import RelayCore

/// A copy that has reported within ten minutes and has not shut down in order.
public struct RunningCopy: Sendable {
    public var id: String
    public var role: String
    public var startedAt: Timestamp
    /// Time since its last report.
    public var lastSeen: Duration
    public var report: InstanceReport
    /// Whether another copy has newer information on Cleeng.
    public var isOutdated = false

    /// Whether the copy counts as dead: it was killed, or cannot reach the database.
    public var isSilent: Bool { lastSeen >= InstanceReport.longestSilence }

    /// Cleeng's state as the copy reports it; nil for a front, which does not call Cleeng.
    public var upstreamText: String? {
        if isSilent { return "silent" }
        guard role != InstanceStore.front else { return nil }
        return isOutdated ? "outdated (\(report.state.rawValue))" : report.state.rawValue
    }
}

extension InstanceStore {
    /// All running copies. Empty in a publisher's scope, because reports cover all accounts that a copy calls.
    public func running(in scope: OpsScope) async throws -> [RunningCopy] {
        guard scope.isAll else { return [] }
        let rows = try await database.query(
            """
            SELECT id, role, started_at, \(Self.reportColumns)
            FROM instances
            WHERE seen_at > now() - interval '10 minutes'
            ORDER BY started_at, id
            LIMIT 200
            """)
        guard let now = try rows.first?.timestamp("now") else { return [] }
        var copies = try rows.map { row in
            RunningCopy(
                id: try row.get("id"), role: try row.get("role"), startedAt: try row.timestamp("started_at"),
                lastSeen: now - (try row.timestamp("seen_at")), report: try Self.instanceReport(row))
        }
        let lastSuccess = InstanceReport.lastSuccess(
            of: copies.filter { !$0.isSilent && $0.role != InstanceStore.front }.map(\.report))
        for place in copies.indices { copies[place].isOutdated = copies[place].report.isOutdated(lastSuccess, at: now) }
        return copies
    }
}
