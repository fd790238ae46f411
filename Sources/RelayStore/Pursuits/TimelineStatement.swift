import Postgres
import RelayCore

/// Writes timeline rows for validations, many at a time.
enum TimelineStatement {
    /// The parameters of ``rows``, from `$1` on. The last one is the instance.
    static func parameters(_ writes: [PursuitWrite], instance: String) -> [PostgresValue] {
        let rows = writes.flatMap { write in
            write.events.enumerated().map { (write.claimed, $0.offset, $0.element) }
        }
        return [
            .int2Array(rows.map { Int16($0.0.id.bucket.number) }), .int4Array(rows.map { Int32($0.0.id.day) }),
            .uuidArray(rows.map { $0.0.id.uuid }), .int4Array(rows.map { $0.0.fence }),
            .int2Array(rows.map { Int16($0.1) }), .timestamptzArray(rows.map { $0.2.at.postgres }),
            .int2Array(rows.map { $0.2.kind.rawValue }),
            .int2Array(rows.map { $0.2.upstreamStatus.map { Int16(clamping: $0) } }),
            .int4Array(rows.map { $0.2.latency.map { Int32(clamping: $0.microseconds / 1_000) } }),
            .textArray(rows.map { $0.2.detail.map { $0.bounded(500) } }), .text(instance),
        ]
    }

    static let rows = """
        SELECT e.bucket, DATE 'epoch' + e.day AS accepted_on, e.id, e.fence, e.ordinal, e.at, e.event, e.upstream_status,
               e.latency_ms, $11::text AS instance, e.detail
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::int4[], $5::int2[], $6::timestamptz[], $7::int2[],
                    $8::int2[], $9::int4[], $10::text[])
             AS e(bucket, day, id, fence, ordinal, at, event, upstream_status, latency_ms, detail)
        """

    static let columns =
        "bucket, accepted_on, id, fence, ordinal, at, event, upstream_status, latency_ms, instance, detail"

    static func insert(_ writes: [PursuitWrite], instance: String) -> PostgresQuery {
        PostgresQuery("INSERT INTO timeline (\(columns)) \(rows)", parameters(writes, instance: instance))
    }

    /// For validations that nobody holds: the fence follows the last one written.
    static let insertUnheld = """
        INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, event, instance, detail)
        SELECT i.bucket, DATE 'epoch' + i.day, i.id,
               1 + coalesce((SELECT max(t.fence) FROM timeline t
                             WHERE t.bucket = i.bucket AND t.accepted_on = DATE 'epoch' + i.day AND t.id = i.id), 0),
               0, now(), $4, $5, i.detail
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $6::text[]) AS i(bucket, day, id, detail)
        """
}
