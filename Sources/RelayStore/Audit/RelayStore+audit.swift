import Foundation
import Postgres
import RelayCore

extension RelayStore {
    private static let auditSQL = """
        INSERT INTO audit_log (bucket, id, actor, action, target, reason, publisher, sealed_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """

    /// Index used: `audit_log_newest`, backwards.
    private static let auditLogSQL = """
        SELECT a.at, a.id, a.actor, a.action, ROW(a.sealed_by, a.target), ROW(a.sealed_by, a.reason)
        FROM audit_log a
        WHERE ($2::timestamptz IS NULL OR (a.at, a.id) < ($2, $3::uuid))
          AND ($4::text IS NULL OR a.action = $4)
          AND ($5::text IS NULL OR position(lower($5) IN lower(a.actor)) > 0)
          AND ($6::text IS NULL OR a.target = $6)
          AND \(OpsScope.sql("a.publisher", 7))
        ORDER BY a.at DESC, a.id DESC
        LIMIT $1
        """

    private static let pruneAuditSQL = """
        DELETE FROM audit_log a
        USING (
            SELECT bucket, id FROM audit_log WHERE at < now() - $1::int8 * interval '1 microsecond' ORDER BY at LIMIT 1000
        ) AS old
        WHERE a.bucket = old.bucket AND a.id = old.id
        """

    /// Writes down what somebody did, where that is not a transaction that could write it itself.
    public func audit(_ entry: AuditEntry) async throws {
        _ = try await pool.query(Self.query(auditing: entry))
    }

    /// To go with what was done.
    static func query(auditing entry: AuditEntry) -> PostgresQuery {
        let id = UUID()
        return PostgresQuery(
            auditSQL,
            [
                .int2(Int16(id.uuid.15)), .uuid(id), .text(entry.actor.bounded(200)),
                .text(entry.action.rawValue), .privateText(entry.target.bounded(1_000)),
                .privateText(entry.reason.map { $0.bounded(1_000) }), .text(entry.publisher), .keyOfTexts,
            ])
    }

    /// A page, newest first.
    public func auditLog(
        matching filter: AuditFilter, in scope: OpsScope
    ) async throws -> (items: [AuditRecord], next: AuditCursor?) {
        let rows = try await pool.query(
            PostgresQuery(
                Self.auditLogSQL,
                [
                    .int4(Int32(clamping: filter.limit + 1)), .timestamptz(filter.cursor?.at.postgres),
                    .uuid(filter.cursor?.id), .text(filter.action?.rawValue), .text(filter.actor),
                    .privateText(filter.target), scope.parameter,
                ]))
        let page = try rows.prefix(filter.limit).map { row in
            (
                id: try row.get(1, as: UUID.self),
                record: AuditRecord(
                    at: try row.timestamp(0), actor: try row.get(2), action: try row.get(3), target: try row.open(4),
                    reason: try row.open(5))
            )
        }
        guard rows.count > filter.limit, let last = page.last else { return (page.map(\.record), nil) }
        return (page.map(\.record), AuditCursor(at: last.record.at, id: last.id))
    }

    /// Forgets lines that are older, a bounded number at a time.
    ///
    /// - Returns: how many.
    public func pruneAuditLog(olderThan age: Duration) async throws -> Int {
        try await pool.query(PostgresQuery(Self.pruneAuditSQL, [.int8(age.microseconds)])).affectedRows
    }
}
