import Postgres
import RelayCore

/// How this process learns of what others have changed: one look each tick for all held polls and all answers that are kept
/// in memory together, and none while there are neither.
public actor ChangeFeed {
    private struct Change: Hashable {
        var id: ValidationID
        var fence: Int32
        var ordinal: Int16
    }

    private let store: RelayStore
    private let tick: Duration
    /// A gap between two looks that is longer is not looked back over: what is waited for is read anew, what is kept is
    /// forgotten.
    private let longestGap: Duration
    /// What the look before has seen: looks overlap, and each change is reported once.
    private var seen: Set<Change> = []
    private var lastSentAt = ContinuousClock.now

    public init(
        store: RelayStore, tick: Duration = .milliseconds(250), longestGap: Duration = .seconds(30)
    ) {
        self.store = store
        self.tick = tick
        self.longestGap = longestGap
    }

    /// A row is written just before its commit, and is seen after it: so far back a look reaches beyond the one before.
    static let overlap = Duration.seconds(3)

    /// One look.
    public func runOnce() async throws {
        let sentAt = ContinuousClock.now
        guard store.memory.changes.waiterCount > 0 || store.memory.validations.isInUse else {
            // Who comes from now on reads after this moment, and misses nothing before it.
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
        // A poll registers, and then asks memory. So the list is made after memory has forgotten what changed: a poll that found the old
        // state there is in the list, and a later one reads the database.
        let waited = Set(store.memory.changes.waitedFor)
        let changed = isLost ? waited : waited.intersection(fresh)
        if !changed.isEmpty { store.memory.changes.publish(try await store.purchases.validations(Array(changed))) }
        // Not before all of it is reported: the next look reports what fails.
        seen = found
        lastSentAt = sentAt
    }

    /// Index used: `timeline_changes`, since `statement_timestamp()` is one moment for all rows; by `clock_timestamp()` the server would ask each
    /// row of the table. It returns this process's own changes too: where the answer to a commit was lost,
    /// this process learns only here that its change was written.
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

    /// Until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            try? await runOnce()
            try? await Task.sleep(for: tick)
        }
    }
}
