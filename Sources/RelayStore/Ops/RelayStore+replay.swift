import Logging
import Postgres
import RelayCore

extension RelayStore {
    /// Index used: `pursuits_parked`.
    private static let parkedSQL = """
        SELECT p.bucket, p.accepted_on - DATE 'epoch', p.id, p.accepted_at
        FROM pursuits p
        WHERE p.phase = 2
          AND ($1::timestamptz IS NULL OR p.accepted_at >= $1)
          AND ($2::timestamptz IS NULL OR p.accepted_at < $2)
          AND ($3::timestamptz IS NULL OR (p.accepted_at, p.id) > ($3, $4::uuid))
          AND \(OpsScope.sql("p.publisher", 6))
        ORDER BY p.accepted_at, p.id
        LIMIT $5
        """

    /// Index used: `validations_newest`, from the oldest on.
    private static let statusSQL = """
        SELECT v.bucket, v.accepted_on - DATE 'epoch', v.id, v.accepted_at
        FROM validations v
        WHERE CASE WHEN v.status = 0 AND v.deadline <= now() THEN 3 ELSE v.status END = $7
          AND v.reason IS DISTINCT FROM 'abandoned'
          AND ($1::timestamptz IS NULL OR v.accepted_at >= $1)
          AND ($2::timestamptz IS NULL OR v.accepted_at < $2)
          AND ($3::timestamptz IS NULL OR (v.accepted_at, v.id) > ($3, $4::uuid))
          AND \(OpsScope.sql("v.publisher", 6))
        ORDER BY v.accepted_at, v.id
        LIMIT $5
        """

    /// Retries one page of what a filter finds, oldest first, so that requests for one subscription keep their order. Each is
    /// a transaction of its own, and noted in its timeline; where it ends in the middle, those before it are done.
    ///
    /// - Parameters:
    ///   - by: who wants it, as the timelines show it.
    ///   - isDryRun: only finds.
    /// - Throws: ``PostgresError`` where the database is away.
    public func replay(
        _ filter: ReplayFilter, in scope: OpsScope, by: String, reason: String, isDryRun: Bool = false
    ) async throws -> ReplayPage {
        var page = try await find(filter, in: scope)
        guard !isDryRun else { return page }
        for id in page.matched {
            do {
                try await retry(id, in: scope, by: by, reason: reason, isAudited: false)
                page.replayed.append(id)
            } catch let refusal as OpsRefusal {
                page.refused.append((id, .refused(refusal)))
            } catch let error as PostgresError where error.isTransient || error.sqlState == nil {
                throw error
            } catch let error as CancellationError {
                throw error
            } catch {
                page.refused.append((id, .unreadable))
                logger.error(
                    "a purchase cannot be replayed", metadata: ["validation_id": "\(id)", "error": "\(error)"])
            }
        }
        if let first = page.matched.first, let last = page.matched.last {
            let target = page.matched.count == 1 ? "\(first)" : "\(first) to \(last)"
            let outcome = "\(page.replayed.count) sent again, \(page.refused.count) not: \(reason)"
            try await audit(AuditEntry(actor: by, .validationsReplayed, target, of: scope.publisher, reason: outcome))
        }
        return page
    }

    private func find(_ filter: ReplayFilter, in scope: OpsScope) async throws -> ReplayPage {
        var parameters: [PostgresValue] = [
            .timestamptz(filter.from?.postgres), .timestamptz(filter.to?.postgres),
            .timestamptz(filter.cursor?.acceptedAt.postgres), .uuid(filter.cursor?.id.uuid),
            .int4(Int32(clamping: filter.limit + 1)), scope.parameter,
        ]
        let sql: String
        switch filter.selection {
        case .parked: sql = Self.parkedSQL
        case .status(let status):
            sql = Self.statusSQL
            parameters.append(.int2(status.rawValue))
        }
        let rows = try await pool.query(PostgresQuery(sql, parameters))
        let found = try rows.prefix(filter.limit).map { row in
            (id: try row.validationID(bucket: 0, day: 1, id: 2), at: try row.timestamp(3))
        }
        var page = ReplayPage(matched: found.map(\.id))
        if rows.count > filter.limit, let last = found.last {
            page.next = ValidationCursor(acceptedAt: last.at, id: last.id)
        }
        return page
    }
}
