import Postgres
import RelayCore

/// Polls for customers whose purchases other copies changed, while any are cached. ``ChangeFeed`` does the same for
/// validations.
public actor CustomerFeed {
    private struct Change: Hashable {
        var name: CustomerName
        var version: Int64
    }

    private let store: RelayStore
    private let tick: Duration
    private let longestGap: Duration
    /// Changes of the previous poll. Polls overlap, but each change is reported once.
    private var seen: Set<Change> = []
    private var lastSentAt = ContinuousClock.now

    public init(store: RelayStore, tick: Duration = .milliseconds(250), longestGap: Duration = .seconds(30)) {
        self.store = store
        self.tick = tick
        self.longestGap = longestGap
    }

    /// Polls once.
    public func runOnce() async throws {
        let sentAt = ContinuousClock.now
        let gap = sentAt - lastSentAt
        guard store.memory.customerPurchases.isInUse, gap <= longestGap else {
            // Purchases cached from now on are read after this moment.
            store.memory.customerPurchases.clear(at: sentAt)
            seen = []
            lastSentAt = sentAt
            return
        }
        // Index used: `customers_changed`; see ``ChangeFeed``.
        let rows = try await store.database.query(
            """
            SELECT c.publisher, ROW(c.sealed_by, c.username) AS username, c.version
            FROM customers c
            WHERE c.changed_at > statement_timestamp() - \(gap + ChangeFeed.overlap)
            """)
        var found: Set<Change> = []
        found.reserveCapacity(rows.count)
        for row in rows {
            found.insert(Change(name: try row.customerName(), version: try row.get("version")))
        }
        store.memory.customerPurchases.looked(at: sentAt, changed: found.subtracting(seen).map(\.name))
        seen = found
        lastSentAt = sentAt
    }

    /// Polls until the task is cancelled.
    public func run() async {
        await FeedLoop(name: "customer_changes", tick: tick, logger: store.memory.logger).run { try await runOnce() }
    }
}
