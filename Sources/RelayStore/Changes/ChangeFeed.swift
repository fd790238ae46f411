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

    /// A row is written shortly before its commit makes it visible. So each query reaches this far back before the
    /// previous one.
    static let overlap = Duration.seconds(3)

    /// Queries the feed once.
    public func runOnce() async throws {
        let sentAt = ContinuousClock.now
        guard store.memory.changes.waiterCount > 0 || store.memory.validations.isInUse else {
            // A poll that arrives from now on reads after this moment, so it misses no earlier change.
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
        // A poll registers first and reads the cache afterwards. So the list is made after outdated entries were
        // removed. A poll that found the old state is in the list, and a later one reads the database.
        let waited = Set(store.memory.changes.waitedFor)
        let changed = isLost ? waited : waited.intersection(fresh)
        if !changed.isEmpty { store.memory.changes.publish(try await store.purchases.validations(Array(changed))) }
        // Updated only after everything was reported: after an error, the next query reports it again.
        seen = found
        lastSentAt = sentAt
    }

    /// Index used: `timeline_changes`, since `statement_timestamp()` is one moment for all rows. With
    /// `clock_timestamp()` the server would check each row of the table. The result includes this process's own
    /// changes: if the answer to a commit was lost, the process learns only here that its change was written.
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
