import Postgres

/// Writes what became of tries: many with one statement and one commit.
public final class DeliveryRecorder: Sendable {
    private let batcher: PostgresBatcher<DeliveryRecord, DeliveryRecordOutcome>

    public init(store: RelayStore) {
        let sizes = BatchSizes("deliveries")
        batcher = PostgresBatcher(maxCount: 256, concurrentBatches: 2, maxWaiting: 8_192) { records in
            sizes.record(records.count)
            return try await store.record(records).map { .success($0) }
        }
    }

    public func record(_ record: DeliveryRecord) async throws -> DeliveryRecordOutcome {
        try await batcher.submit(record)
    }

    public func drain() async { await batcher.drain() }
}
