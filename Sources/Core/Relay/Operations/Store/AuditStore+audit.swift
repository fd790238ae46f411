public import Foundation
package import Postgres
import RelayCore

extension AuditStore {
    /// Records an action. In a ``transaction(timeout:_:)`` with the action, both are committed or neither is.
    public func add(_ entry: AuditEntry) async throws {
        _ = try await database.query(Self.query(auditing: entry))
    }

    /// Records the start of an action that takes more than one transaction.
    ///
    /// - Returns: the row, for ``amend(_:_:)``.
    public func begin(_ entry: AuditEntry) async throws -> UUID {
        let id = UUID()
        _ = try await database.query(Self.query(auditing: entry, as: id))
        return id
    }

    /// Records the outcome of an action.
    public func amend(_ id: UUID, _ entry: AuditEntry) async throws {
        _ = try await database.query(
            """
            UPDATE audit_log
            SET target = \(.privateText(entry.target.bounded(1_000))), reason = \(.privateText(entry.reason?.bounded(1_000))),
                sealed_by = \(.keyOfTexts)
            WHERE bucket = \(.int2(Int16(id.uuid.15))) AND id = \(.uuid(id))
            """)
    }

    /// Statement to run in the action's own transaction.
    package static func query(auditing entry: AuditEntry, as id: UUID = UUID()) -> SQL {
        """
        INSERT INTO audit_log (bucket, id, actor, action, target, reason, publisher, sealed_by)
        VALUES (\(.int2(Int16(id.uuid.15))), \(.uuid(id)), \(.text(entry.actor.bounded(200))), \(.text(entry.action.rawValue)),
                \(.privateText(entry.target.bounded(1_000))), \(.privateText(entry.reason?.bounded(1_000))),
                \(.text(entry.publisher)), \(.keyOfTexts))
        """
    }

    /// A page, newest first. Index used: `audit_log_newest`, backwards.
    public func list(
        matching filter: AuditFilter, in scope: OpsScope
    ) async throws -> (items: [AuditRecord], next: AuditCursor?) {
        let at = PostgresValue.timestamptz(filter.cursor?.at.postgres)
        let (action, actor) = (PostgresValue.text(filter.action?.rawValue), PostgresValue.text(filter.actor))
        let target = PostgresValue.privateText(filter.target)
        let rows = try await database.query(
            """
            SELECT a.at, a.id, a.actor, a.action, ROW(a.sealed_by, a.target) AS target, ROW(a.sealed_by, a.reason) AS reason
            FROM audit_log a
            WHERE (\(at) IS NULL OR (a.at, a.id) < (\(at), \(.uuid(filter.cursor?.id))))
              AND (\(action) IS NULL OR a.action = \(action))
              AND (\(actor) IS NULL OR position(lower(\(actor)) IN lower(a.actor)) > 0)
              AND (\(target) IS NULL OR a.target = \(target))
              AND \(scope.includes("a.publisher"))
            ORDER BY a.at DESC, a.id DESC
            LIMIT \(.int4(Int32(clamping: filter.limit + 1)))
            """)
        let page = try rows.prefix(filter.limit).map { row in
            (
                id: try row.get("id", as: UUID.self),
                record: AuditRecord(
                    at: try row.timestamp("at"), actor: try row.get("actor"), action: try row.get("action"),
                    target: try row.open("target"), reason: try row.open("reason"))
            )
        }
        guard rows.count > filter.limit, let last = page.last else { return (page.map(\.record), nil) }
        return (page.map(\.record), AuditCursor(at: last.record.at, id: last.id))
    }

    /// Deletes rows older than this, a bounded number at a time.
    ///
    /// - Returns: how many were deleted.
    public func prune(olderThan age: Duration) async throws -> Int {
        try await database.query(
            """
            DELETE FROM audit_log a
            USING (SELECT bucket, id FROM audit_log WHERE at < now() - \(age) ORDER BY at LIMIT 1000) AS old
            WHERE a.bucket = old.bucket AND a.id = old.id
            """
        ).affectedRows
    }
}
