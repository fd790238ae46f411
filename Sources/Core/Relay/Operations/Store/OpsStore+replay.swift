import Logging
import Postgres
import RelayCore

extension OpsStore {
    /// One page of a filter's matches, oldest first, so that requests for one subscription keep their order.
    ///
    /// Indexes used: `pursuits_parked` for parked pursuits, `validations_newest` for a status, oldest first.
    public func replayTargets(_ filter: ReplayFilter, in scope: OpsScope) async throws -> ReplayPage {
        let row: SQL
        let condition: SQL
        switch filter.selection {
        case .parked: (row, condition) = ("p", "p.phase = \(Pursuit.Phase.parked)")
        case .status(let status):
            row = "v"
            condition = "\(Self.judgedStatus) = \(.int2(status.rawValue)) AND v.reason IS DISTINCT FROM 'abandoned'"
        }
        let table: SQL = filter.selection == .parked ? "pursuits p" : "validations v"
        let (from, to) = (
            PostgresValue.timestamptz(filter.from?.postgres), PostgresValue.timestamptz(filter.to?.postgres)
        )
        let last = PostgresValue.timestamptz(filter.cursor?.acceptedAt.postgres)
        let rows = try await database.query(
            """
            SELECT \(row).bucket, \(row).accepted_on - DATE 'epoch' AS day, \(row).id, \(row).accepted_at
            FROM \(table)
            WHERE \(condition)
              AND (\(from) IS NULL OR \(row).accepted_at >= \(from))
              AND (\(to) IS NULL OR \(row).accepted_at < \(to))
              AND (\(last) IS NULL OR (\(row).accepted_at, \(row).id) > (\(last), \(.uuid(filter.cursor?.id.uuid))))
              AND \(scope.includes("\(row).publisher"))
            ORDER BY \(row).accepted_at, \(row).id
            LIMIT \(.int4(Int32(clamping: filter.limit + 1)))
            """)
        let found = try rows.prefix(filter.limit).map { row in
            (id: try row.validationID(), at: try row.timestamp("accepted_at"))
        }
        var page = ReplayPage(matched: found.map(\.id))
        if rows.count > filter.limit { page.next = found.last.map { ValidationCursor(acceptedAt: $0.at, id: $0.id) } }
        return page
    }

    /// Retries the matches. Each retry is one transaction with its own row in the timeline. If an error ends the loop,
    /// the earlier retries remain.
    ///
    /// - Parameter by: name of the operator in the timelines.
    /// - Throws: ``PostgresError`` if the database does not answer.
    public func replay(
        _ found: ReplayPage, in scope: OpsScope, by: String, reason: String
    ) async throws -> ReplayPage {
        var page = found
        for id in page.matched {
            do {
                _ = try await retry(id, in: scope, by: by, reason: reason)
                page.replayed.append(id)
            } catch let refusal as OpsRefusal {
                page.refused.append((id, .refused(refusal)))
            } catch let error as PostgresError where error.isTransient || error.sqlState == nil {
                throw error
            } catch let error as CancellationError {
                throw error
            } catch {
                page.refused.append((id, .unreadable))
                memory.logger.error(
                    "a purchase cannot be replayed", metadata: ["validation_id": "\(id)", "error": "\(error)"])
            }
        }
        return page
    }
}
