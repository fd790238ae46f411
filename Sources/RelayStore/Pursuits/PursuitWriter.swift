import Postgres
import RelayCore

/// Where workers put what they have to write: writes that come together share a statement or a transaction.
public final class PursuitWriter: Sendable {
    private let releases: PostgresBatcher<PursuitWrite, PursuitWriteOutcome>
    private let settlements: PostgresBatcher<PursuitWrite, PursuitWriteOutcome>

    /// - Parameter onGranted: called after a commit that granted something: its subscriptions are to be looked at.
    public init(store: RelayStore, onGranted: @escaping @Sendable () -> Void = {}) {
        let (releaseSizes, settlementSizes) = (BatchSizes("releases"), BatchSizes("settlements"))
        releases = PostgresBatcher(maxCount: 500, concurrentBatches: 2, maxWaiting: 100_000) { batch in
            releaseSizes.record(batch.count)
            return try await store.release(batch).map { .success($0) }
        }
        // Two writes of one validation never share a batch: the second starts from what the first one left.
        settlements = PostgresBatcher(
            maxCount: 200, concurrentBatches: 2, maxWaiting: 100_000, key: { $0.claimed.id },
            flush: { batch in
                settlementSizes.record(batch.count)
                let outcomes = try await store.settle(batch)
                if batch.contains(where: { $0.change?.status == .granted }) { onGranted() }
                return outcomes.map { .success($0) }
            })
    }

    /// Returns after the commit.
    public func write(_ write: PursuitWrite) async throws -> PursuitWriteOutcome {
        try await write.isRelease ? releases.submit(write) : settlements.submit(write)
    }

    public func drain() async {
        await releases.drain()
        await settlements.drain()
    }
}
