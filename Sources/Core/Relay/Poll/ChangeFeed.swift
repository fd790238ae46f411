import Postgres
import RelayCore

/// Finds changes made by other copies. One query each tick serves all held polls and all cached answers; there is no
/// query if there are neither.
public actor ChangeFeed {
    private struct Change: Hashable {
        var id: ValidationID
        var fence: Int32
        var ordinal: Int16
    }

    private let store: RelayStore
    private let tick: Duration
    /// After a longer gap between two queries, changes are not searched. Validations with waiters are read again, and
    /// caches are cleared.
    private let longestGap: Duration
    /// Changes found by the previous query. Queries overlap, and each change is reported once.
    private var seen: Set<Change> = []
    private var lastSentAt = ContinuousClock.now

    public init(
        store: RelayStore, tick: Duration = .milliseconds(250), longestGap: Duration = .seconds(30)
    ) {
        self.store = store
        self.tick = tick
        self.longestGap = longestGap
    }

    /// How far each query reaches back before the previous one. A change is recorded shortly before its commit makes it
    /// visible.
    static let overlap = Duration.seconds(3)

    /// Queries the feed once.
    public func runOnce() async throws {
        let sentAt = ContinuousClock.now
        guard store.memory.changes.waiterCount > 0 || store.memory.validations.isInUse else {
            // A poll that arrives later reads the database after `sentAt`, so it misses no earlier change.
            store.memory.validations.clear(at: sentAt)
            seen = []
            lastSentAt = sentAt
            return
        }
        let gap = sentAt - lastSentAt
        let isLost = gap > longestGap
        let found = isLost ? [] : try await look(back: gap + Self.overlap)
        let fresh = Set(found.subtracting(seen).map(\.id))
        if isLost {
            store.memory.validations.clear(at: sentAt)
        } else {
            store.memory.validations.looked(at: sentAt, changed: fresh)
        }
        // A poll registers first and reads the cache afterwards. This list is made after outdated entries were removed,
        // so each poll either is in the list or reads the new state.
        let waited = Set(store.memory.changes.waitedFor)
        let changed = isLost ? waited : waited.intersection(fresh)
        if !changed.isEmpty { store.memory.changes.publish(try await store.purchases.validations(Array(changed))) }
        // Updated last: after an error, the next query finds and reports the same changes again.
        seen = found
        lastSentAt = sentAt
    }

    /// Finds changes, including this process's own: if the answer to a commit was lost, the process learns only here
    /// that it was written. Index used: `timeline_changes`. With `clock_timestamp()` in place of
    /// `statement_timestamp()` the server would check each row of the table.
    private func look(back reach: Duration) async throws -> Set<Change> {
        let rows = try await store.database.query(
            """
            SELECT t.bucket, t.accepted_on - DATE 'epoch' AS day, t.id, t.fence, t.ordinal
            FROM timeline t
            WHERE t.event < \(TimelineEvent.Kind.accepted) AND t.recorded_at > statement_timestamp() - \(reach)
            """)
        var found: Set<Change> = []
        found.reserveCapacity(rows.count)
        for row in rows {
            found.insert(
                Change(id: try row.validationID(), fence: try row.get("fence"), ordinal: try row.get("ordinal")))
        }
        return found
    }

    /// Runs until the task is cancelled.
    public func run() async {
        await FeedLoop(name: "changes", tick: tick, logger: store.memory.logger).run { try await runOnce() }
    }
}
