import Postgres
public import RelayCore

extension QuestionStore {
    /// Statement that records the time of a store's notification. Nil if one was recorded a moment ago: otherwise all
    /// notifications would wait for one row.
    func note(_ store: StorePlatform, of publisher: PublisherID) -> SQL? {
        guard memory.noted.isTime(for: "\(publisher) \(store.rawValue)") else { return nil }
        return """
            INSERT INTO store_standings AS s (publisher, store, notified_at)
            VALUES (\(.text(publisher)), \(.text(store.rawValue)), now())
            ON CONFLICT (publisher, store) DO UPDATE SET notified_at = greatest(s.notified_at, excluded.notified_at)
            """
    }

    /// Health of each store that has sent something, or that must be asked.
    public func health(in scope: OpsScope) async throws -> [StoreHealth] {
        async let topics = relay.notifications.topics(in: scope)
        let stores: SQLTable = ["store": .textArray(StorePlatform.allCases.map(\.rawValue))]
        let found = try await database.query(
            """
            SELECT i.store, n.notified_at, q.waiting, q.parked, (extract(epoch FROM now() - q.oldest) * 1000000)::int8 AS oldest,
                   s.swept_at, s.oldest_sweep, s.trouble
            FROM \(stores, as: "i", ordinal: "ordinal")
            CROSS JOIN LATERAL (
                SELECT max(n.notified_at) AS notified_at
                FROM store_standings n
                WHERE n.store = i.store AND \(scope.includes("n.publisher"))) AS n
            CROSS JOIN LATERAL (
                SELECT count(*) FILTER (WHERE q.parked_at IS NULL) AS waiting,
                       count(*) FILTER (WHERE q.parked_at IS NOT NULL) AS parked,
                       -- Of one whose answer is doubted the store has been asked.
                       min(q.received_at) FILTER (WHERE q.parked_at IS NULL
                           AND (q.expects IS NULL OR q.doubts = \(.int2(ClaimedQuestion.mostDoubts)))) AS oldest
                FROM store_questions q
                WHERE q.store = i.store AND \(scope.includes("q.publisher"))) AS q
            CROSS JOIN LATERAL (
                -- Of several apps the one asked about longest ago. One that no account can ask for does not count.
                SELECT CASE WHEN bool_and(s.swept_at IS NOT NULL OR s.asked_since IS NULL)
                            THEN min(s.swept_at) END AS swept_at,
                       min(coalesce(s.swept_at, s.asked_since)) AS oldest_sweep, max(s.trouble) AS trouble
                FROM store_sweeps s
                WHERE s.store = i.store AND \(scope.includes("s.publisher"))) AS s
            ORDER BY i.ordinal
            """
        ).map { row in
            StoreHealth(
                store: try row.get("store"), lastNotificationAt: try row.timestampIfSet("notified_at"),
                waiting: try row.get("waiting"), parked: try row.get("parked"),
                oldestWaiting: try row.get("oldest", as: Int64?.self).map { .microseconds($0) },
                sweptAt: try row.timestampIfSet("swept_at"), oldestSweep: try row.timestampIfSet("oldest_sweep"),
                sweepTrouble: try row.get("trouble"))
        }
        let known = Dictionary(grouping: try await topics, by: \.store)
        return found.map { one in
            var health = one
            health.topics = known[health.store] ?? []
            return health
        }.filter(\.isInUse)
    }
}

/// Status of one store: its notifications, and the questions to it.
public struct StoreHealth: Sendable, Equatable {
    /// Name of the store, as in ``StorePlatform``.
    public var store: String
    /// At most ten seconds late. Nil if no notification has come.
    public var lastNotificationAt: Timestamp?
    /// Approximate number of purchases about which it must be asked.
    public var waiting = 0
    public var parked = 0
    /// Waiting time of the oldest of these purchases; nil if there is none.
    public var oldestWaiting: Duration?
    /// Last sweep of the app that was swept longest ago; nil if one never was.
    public var sweptAt: Timestamp?
    /// The oldest time of all apps' last sweeps. For an app that was never swept, the time of its first try counts.
    public var oldestSweep: Timestamp?
    /// Why the last sweep failed.
    public var sweepTrouble: String?
    /// Topics that deliver its notifications; empty if there are none.
    public var topics: [TopicSubscription] = []

    var isInUse: Bool {
        lastNotificationAt != nil || waiting > 0 || parked > 0 || oldestSweep != nil || sweepTrouble != nil
            || !topics.isEmpty
    }
}
