public import Postgres
import RelayCore

/// Messages to webhook endpoints, written in the transaction that changes the state.
///
/// Three rules keep a lane's messages in order. The transaction that queues a newer message removes an older one that
/// is not being sent. An older one that is being sent is marked: it is never sent again, whatever its result. And the
/// newer one cannot be claimed until that send has ended or its lease has expired (`webhook_queue_one_sender`).
public enum DeliveryStatements {
    /// Statements to run in order, in one transaction; after its commit the delivery service may be notified. Of
    /// several messages that replace each other (one endpoint and lane) only the newest is written.
    public static func enqueue(_ deliveries: [NewDelivery]) -> [SQL] {
        let rows = newest(of: deliveries)
        guard !rows.isEmpty else { return [] }
        let lanes: SQLTable = [
            "bucket": .int2Array(rows.map { Int16($0.id.bucket.number) }),
            "endpoint": .textArray(rows.map(\.endpoint.description)), "lane": .privateTextArray(rows.map(\.lane)),
            "sequence": .int8Array(rows.map(\.sequence)), "replaces": .boolArray(rows.map(\.replaces)),
        ]
        guard rows.contains(where: \.replaces) else { return [insert(rows, lanes).plannedAnew] }
        return [overtake(lanes).plannedAnew, replace(lanes).plannedAnew, insert(rows, lanes).plannedAnew]
    }

    private static let isOfSameLane: SQL = """
        new.replaces AND o.bucket = new.bucket AND o.endpoint = new.endpoint AND o.lane = new.lane
        """

    /// Marks the lanes' older messages. Locks them in the order of the writers of outcomes, and so waits for concurrent
    /// claims. Index used: `webhook_queue_lane`.
    private static func overtake(_ lanes: SQLTable) -> SQL {
        """
        WITH older AS MATERIALIZED (
            SELECT o.bucket, o.id
            FROM \(lanes, as: "new")
            JOIN webhook_queue o ON \(isOfSameLane) AND o.sequence <= new.sequence
            ORDER BY o.bucket, o.id
            FOR UPDATE OF o
        )
        UPDATE webhook_queue q
        SET overtaken = true
        FROM older
        WHERE q.bucket = older.bucket AND q.id = older.id
        """
    }

    /// Removes the marked messages that are not being sent. Index used: `webhook_queue_lane`.
    private static func replace(_ lanes: SQLTable) -> SQL {
        """
        WITH gone AS (
            DELETE FROM webhook_queue o
            USING \(lanes, as: "new")
            WHERE \(isOfSameLane) AND o.sequence <= new.sequence AND o.overtaken AND o.owner IS NULL
            RETURNING o.bucket, o.accepted_on, o.id, o.tries
        )
        UPDATE webhook_deliveries d
        SET state = \(DeliveryState.replaced), finished_at = now(), tries = gone.tries
        FROM gone
        WHERE d.bucket = gone.bucket AND d.accepted_on = gone.accepted_on AND d.id = gone.id
        """
    }

    /// Inserts messages. One older than a queued one is stored but not queued. Index used: `webhook_queue_lane`.
    private static func insert(_ rows: [NewDelivery], _ lanes: SQLTable) -> SQL {
        let contents: SQLTable = [
            "day": .int4Array(rows.map { Int32($0.id.day) }), "id": .uuidArray(rows.map(\.id.uuid)),
            "publisher": .textArray(rows.map(\.publisher)), "body": .privateTextArray(rows.map(\.body)),
            "trace": .textArray(rows.map(\.trace)),
        ]
        return """
            WITH new AS MATERIALIZED (
                SELECT new.*, EXISTS (
                           SELECT FROM webhook_queue o WHERE \(isOfSameLane) AND o.sequence > new.sequence) AS is_late
                FROM \(lanes + contents, as: "new")
            ), queued AS (
                INSERT INTO webhook_queue (
                    bucket, id, accepted_on, due_at, created_at, sequence, endpoint, lane, sealed_by)
                SELECT new.bucket, new.id, DATE 'epoch' + new.day, now(), now(), new.sequence, new.endpoint, new.lane,
                       \(.keyOfTexts)
                FROM new
                WHERE NOT new.is_late
            )
            INSERT INTO webhook_deliveries (
                bucket, accepted_on, id, created_at, finished_at, sequence, state, endpoint, publisher, lane, body,
                trace, sealed_by)
            SELECT new.bucket, DATE 'epoch' + new.day, new.id, now(), CASE WHEN new.is_late THEN now() END,
                   new.sequence,
                   CASE WHEN new.is_late THEN \(DeliveryState.replaced) ELSE \(DeliveryState.waiting) END,
                   new.endpoint, new.publisher, new.lane, new.body, new.trace, \(.keyOfTexts)
            FROM new
            """
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
