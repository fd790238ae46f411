import Logging
import Postgres
import RelayCore

/// How the polls held in this process learn of what other processes have settled: one look each tick for all of them
/// together, and none while nobody waits.
public struct ChangeFeed: Sendable {
    let store: RelayStore
    let tick: Duration

    public init(store: RelayStore, tick: Duration = .milliseconds(250)) {
        self.store = store
        self.tick = tick
    }

    /// Index used: `timeline_changes`. What commits late carries an older `recorded_at`: each look reaches back five seconds,
    /// which is longer than a settlement may take.
    private static let changedSQL = """
        SELECT DISTINCT t.bucket, t.accepted_on - DATE 'epoch', t.id
        FROM timeline t
        WHERE t.event < 10 AND t.recorded_at > now() - $1::int8 * interval '1 microsecond' AND t.instance <> $2
        """

    /// One look.
    public func runOnce(reachingBack: Duration = .seconds(5)) async throws {
        let waited = Set(store.changes.waitedFor)
        guard !waited.isEmpty else { return }
        let rows = try await store.pool.query(
            PostgresQuery(Self.changedSQL, [.int8(reachingBack.microseconds), .text(store.instance)]))
        let changed = try rows.map { try $0.validationID(bucket: 0, day: 1, id: 2) }.filter(waited.contains)
        guard !changed.isEmpty else { return }
        store.changes.publish(try await store.validations(changed))
    }

    /// Until the task is cancelled.
    public func run() async {
        var failing = false
        while !Task.isCancelled {
            do {
                // After a failure some looks were missed: reach back over the gap.
                try await runOnce(reachingBack: failing ? .seconds(120) : .seconds(5))
                failing = false
            } catch {
                failing = true
            }
            try? await Task.sleep(for: tick)
        }
    }
}
