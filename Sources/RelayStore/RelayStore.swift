public import Logging
public import Postgres
public import RelayCore

/// The relay's tables: a store for each aggregate (``purchases``, ``subscriptions``, …), with its statements in a folder of its own.
///
/// Nothing here decides: what a pursuit does next is ``RelayCore/Pursuit``'s to say. What this process remembers of the tables stands in
/// ``memory``.
public struct RelayStore: Sendable {
    let database: Database
    public let memory: StoreMemory

    public init(
        pool: PostgresPool, vault: Vault, instance: String, logger: Logger, acknowledged: Set<StorePlatform> = [],
        recheck: Duration = StoreMemory.standardRecheck,
        onCustomersChanged: @escaping @Sendable () -> Void = {},
        onMessagesQueued: @escaping @Sendable () -> Void = {},
        onQuestionsAsked: @escaping @Sendable () -> Void = {}
    ) {
        self.init(
            database: Database(pool),
            memory: StoreMemory(
                vault: vault, instance: instance, logger: logger, acknowledged: acknowledged, recheck: recheck,
                onCustomersChanged: onCustomersChanged, onMessagesQueued: onMessagesQueued,
                onQuestionsAsked: onQuestionsAsked))
    }

    private init(database: Database, memory: StoreMemory) {
        self.database = database
        self.memory = memory
    }

    /// Runs `body` with a store whose statements are all of one transaction: it is committed where `body` returns, and nothing has
    /// happened where it throws. Once more, from the beginning, where the server has ended it for another's sake.
    public func transaction<T: Sendable>(
        timeout: Duration? = nil, _ body: @Sendable (RelayStore) async throws -> T
    ) async throws -> T {
        try await database.retryingDeadlock {
            try await database.joining(timeout: timeout) {
                try await body(RelayStore(database: $0, memory: memory))
            }
        }
    }
}

extension RelayStore {
    /// What each session of the pool begins with.
    ///
    /// The queues are empty most of the time. A plan that the server keeps from such a time would read them from end to end, for each row
    /// anew: claiming out of twenty thousand rows took 51 s by such a plan, and a millisecond by the indexes. Every statement
    /// here has an index to go by. What a plan without one is rated at would have the server compile it.
    ///
    /// The same plan for all values, for which index serves does not depend on them. Planning each small batch took a grant 9 ms to the app
    /// instead of 6.
    public static let sessionParameters = [
        "enable_seqscan": "off", "jit": "off", "plan_cache_mode": "force_generic_plan",
    ]

    /// See ``PostgresPool/hasSeenStrayStatement``.
    public var hasSeenStrayStatement: Bool { database.hasSeenStrayStatement }

    /// Asks the database what time it is, and tells its clock.
    public func readClock() async throws {
        let sent = ContinuousClock.now
        let rows = try await database.query("SELECT clock_timestamp() AS now", timeout: .seconds(3))
        guard let row = rows.first else { return }
        memory.clock.observe(try row.timestamp("now"), sent: sent)
    }

    /// The two statements without which no purchase moves. The names are what `/readyz` says is missing.
    public enum Probe: String, Sendable, CaseIterable {
        case accept, claim
    }

    /// Runs one as it is run for purchases, with none: the server looks at tables, columns and rights, and writes nothing.
    ///
    /// - Throws: ``PostgresError``.
    public func run(_ probe: Probe) async throws {
        switch probe {
        case .accept:
            _ = try await database.query(
                AcceptStatement.query([], timeout: .seconds(1)), timeout: .seconds(5))
        case .claim:
            let none = Dictionary(uniqueKeysWithValues: PurchaseStore.worked.map { ($0, 0) })
            _ = try await purchases.claimDue(none, lease: .seconds(1))
        }
    }
}
