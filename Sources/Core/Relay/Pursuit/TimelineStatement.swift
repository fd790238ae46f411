import Formats
import Postgres
import RelayCore

/// Writes timeline rows for several validations in one statement.
enum TimelineStatement {
    static let columns: SQL =
        "bucket, accepted_on, id, fence, ordinal, at, event, upstream_status, latency_ms, instance, detail"

    /// The writes' events as rows of ``columns``.
    static func rows(_ writes: [PursuitWrite], instance: String) -> SQL {
        let rows = writes.flatMap { write in
            write.events.enumerated().map { (claimed: write.claimed, ordinal: $0.offset, event: $0.element) }
        }
        let events: SQLTable = [
            "fence": .int4Array(rows.map(\.claimed.fence)), "ordinal": .int2Array(rows.map { Int16($0.ordinal) }),
            "at": .timestamptzArray(rows.map(\.event.at.postgres)),
            "event": .int2Array(rows.map(\.event.kind.rawValue)),
            "upstream_status": .int2Array(rows.map { $0.event.upstreamStatus.map { Int16(clamping: $0) } }),
            "latency_ms": .int4Array(rows.map { $0.event.latency.map { Int32(clamping: $0.microseconds / 1_000) } }),
            "detail": .textArray(rows.map { $0.event.detail.map { $0.bounded(500) } }),
        ]
        return """
            SELECT e.bucket, DATE 'epoch' + e.day AS accepted_on, e.id, e.fence, e.ordinal, e.at, e.event, e.upstream_status,
                   e.latency_ms, \(.text(instance)) AS instance, e.detail
            FROM \(SQLTable.ids(rows.map(\.claimed.id)) + events, as: "e")
            """
    }

    static func insert(_ writes: [PursuitWrite], instance: String) -> SQL {
        "INSERT INTO timeline (\(columns)) \(rows(writes, instance: instance))"
    }

    /// Inserts rows for validations that no worker has claimed. Their fence is one higher than the last written one.
    ///
    /// - Parameters:
    ///   - rows: have `bucket`, `accepted_on` and `id`.
    ///   - event: number of a ``TimelineEvent/Kind``.
    ///   - detail: like `event`, may use columns of `rows`, as `e.column`.
    static func insert(unheld rows: SQL, event: SQL, detail: SQL, instance: String) -> SQL {
        """
        INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, event, instance, detail)
        SELECT e.bucket, e.accepted_on, e.id,
               1 + coalesce((SELECT max(t.fence) FROM timeline t
                             WHERE t.bucket = e.bucket AND t.accepted_on = e.accepted_on AND t.id = e.id), 0),
               0, now(), \(event), \(.text(instance)), \(detail)
        FROM \(rows) e
        """
    }
}
