public import Postgres
import RelayCore

/// Messages to webhook endpoints, written in the transaction that knows what they say.
///
/// The order in which a lane's messages land is kept by three things. A message that is not under way is taken out of the queue
/// in the same transaction that puts a newer one in. One that is under way is marked: it is never sent again, whatever comes of
/// it. And the newer one cannot be claimed before that has ended, or its lease is over (`webhook_queue_one_sender`).
public enum DeliveryStatements {
    private static let newer = """
        new.replaces AND o.bucket = new.bucket AND o.endpoint = new.endpoint AND o.lane = new.lane
        """

    /// Locks the lanes' older rows in the order in which those who write outcomes do, and so waits for claims that are being made.
    /// Index used: `webhook_queue_lane`.
    private static let overtakeSQL = """
        WITH older AS MATERIALIZED (
            SELECT o.bucket, o.id
            FROM unnest($1::int2[], $2::text[], $3::text[], $4::int8[], $5::bool[])
                 AS new(bucket, endpoint, lane, sequence, replaces)
            JOIN webhook_queue o ON \(newer) AND o.sequence <= new.sequence
            ORDER BY o.bucket, o.id
            FOR UPDATE OF o
        )
        UPDATE webhook_queue q
        SET overtaken = true
        FROM older
        WHERE q.bucket = older.bucket AND q.id = older.id
        """

    /// What is not under way goes. It reads again what the statement before has locked. Index used: `webhook_queue_lane`.
    private static let replaceSQL = """
        WITH gone AS (
            DELETE FROM webhook_queue o
            USING unnest($1::int2[], $2::text[], $3::text[], $4::int8[], $5::bool[])
                  AS new(bucket, endpoint, lane, sequence, replaces)
            WHERE \(newer) AND o.sequence <= new.sequence AND o.overtaken AND o.owner IS NULL
            RETURNING o.bucket, o.accepted_on, o.id, o.tries
        )
        UPDATE webhook_deliveries d
        SET state = 3, finished_at = now(), tries = gone.tries
        FROM gone
        WHERE d.bucket = gone.bucket AND d.accepted_on = gone.accepted_on AND d.id = gone.id
        """

    /// One that comes after a newer state has been queued is kept for the record alone. Index used: `webhook_queue_lane`.
    private static let insertSQL = """
        WITH new AS MATERIALIZED (
            SELECT new.*, EXISTS (
                       SELECT FROM webhook_queue o WHERE \(newer) AND o.sequence > new.sequence) AS is_late
            FROM unnest($1::int2[], $2::text[], $3::text[], $4::int8[], $5::bool[], $6::int4[], $7::uuid[], $8::text[],
                        $9::text[], $10::text[])
                 AS new(bucket, endpoint, lane, sequence, replaces, day, id, publisher, body, trace)
        ), queued AS (
            INSERT INTO webhook_queue (bucket, id, accepted_on, due_at, created_at, sequence, endpoint, lane, sealed_by)
            SELECT new.bucket, new.id, DATE 'epoch' + new.day, now(), now(), new.sequence, new.endpoint, new.lane, $11
            FROM new
            WHERE NOT new.is_late
        )
        INSERT INTO webhook_deliveries (
            bucket, accepted_on, id, created_at, finished_at, sequence, state, endpoint, publisher, lane, body, trace,
            sealed_by)
        SELECT new.bucket, DATE 'epoch' + new.day, new.id, now(), CASE WHEN new.is_late THEN now() END, new.sequence,
               CASE WHEN new.is_late THEN 3 ELSE 0 END, new.endpoint, new.publisher, new.lane, new.body, new.trace,
               $11
        FROM new
        """

    /// To be sent in order, in one transaction; after its commit the delivery service's bell may be rung. Of several that replace
    /// each other (one endpoint and lane) only the newest is written.
    public static func enqueue(_ deliveries: [NewDelivery]) -> [PostgresQuery] {
        let rows = newest(of: deliveries)
        guard !rows.isEmpty else { return [] }
        let lanes: [PostgresValue] = [
            .int2Array(rows.map { Int16($0.id.bucket.number) }), .textArray(rows.map(\.endpoint.description)),
            .privateTextArray(rows.map(\.lane)), .int8Array(rows.map(\.sequence)), .boolArray(rows.map(\.replaces)),
        ]
        let contents: [PostgresValue] = [
            .int4Array(rows.map { Int32($0.id.day) }), .uuidArray(rows.map(\.id.uuid)),
            .textArray(rows.map(\.publisher)), .privateTextArray(rows.map(\.body)),
            .textArray(rows.map(\.trace)), .keyOfTexts,
        ]
        let insert = PostgresQuery(insertSQL, lanes + contents, isPlannedAnew: true)
        guard rows.contains(where: \.replaces) else { return [insert] }
        return [
            PostgresQuery(overtakeSQL, lanes, isPlannedAnew: true),
            PostgresQuery(replaceSQL, lanes, isPlannedAnew: true), insert,
        ]
    }

    private struct Lane: Hashable {
        var endpoint: EndpointID
        var publisher: PublisherID
        var lane: Username
    }

    private static func newest(of deliveries: [NewDelivery]) -> [NewDelivery] {
        var latest: [Lane: Int] = [:]
        for (index, delivery) in deliveries.enumerated() where delivery.replaces {
            let lane = Lane(endpoint: delivery.endpoint, publisher: delivery.publisher, lane: delivery.lane)
            if let other = latest[lane], deliveries[other].sequence > delivery.sequence { continue }
            latest[lane] = index
        }
        let kept = Set(latest.values)
        return deliveries.enumerated().filter { !$0.element.replaces || kept.contains($0.offset) }.map(\.element)
    }
}
