public import Logging
public import Postgres
public import RelayCore

/// The relay's tables: a store for each aggregate (``purchases``, ``subscriptions``, …). Their statements are in the
/// folders of their topics.
///
/// SQL decides order and exclusion: which row is claimed next, and which of two writers waits. `RelayCore` decides a
/// purchase's next step. This process's caches of the tables are in ``memory``.
public struct RelayStore: Sendable {
    package let database: Database
    public let memory: StoreMemory

    /// - Parameter onDue: called after this process has committed work of a kind, and by ``StoreMemory/signal(_:)``.
    public init(
        pool: PostgresPool, vault: Vault, instance: String, logger: Logger,
        features: [StoredFeature] = [],
        acknowledged: Set<StorePlatform> = [],
        leeway: Duration = LedgerChange.Terms.standardLeeway, grantsAskedAt: Set<StorePlatform> = [],
        recheck: Duration = LedgerChange.Terms.standardRecheck, accounts: AccountRoster = AccountRoster(),
        onDue: @escaping @Sendable (DueWork) -> Void = { _ in }
    ) {
        self.init(
            database: Database(pool),
            memory: StoreMemory(
                vault: vault, instance: instance, logger: logger, features: features,
                acknowledged: acknowledged, leeway: leeway, grantsAskedAt: grantsAskedAt, recheck: recheck,
                accounts: accounts, onDue: onDue))
    }

    private init(database: Database, memory: StoreMemory) {
        self.database = database
        self.memory = memory
    }

    /// Runs `body` with a store whose statements share one transaction. It commits when `body` returns, and changes
    /// nothing if `body` throws. After a conflict with another transaction, `body` runs again from its beginning.
    public func transaction<T: Sendable>(
        timeout: Duration? = nil, _ body: @Sendable (RelayStore) async throws -> T
    ) async throws -> T {
        try await database.retryingConflicts {
            try await database.joining(timeout: timeout) {
                try await body(RelayStore(database: $0, memory: memory))
            }
        }
    }
}

extension RelayStore {
    /// Parameters of each session in the pool.
    ///
    /// The queues are empty most of the time. A plan that the server caches then would read a whole queue for each row:
    /// claiming from twenty thousand rows took 51 s with such a plan, and a millisecond with indexes. Every statement
    /// here has an index. The high cost estimate of a plan without one would also make the server compile it.
    ///
    /// All values share one plan, since the choice of the index does not depend on them. With a plan for each small
    /// batch, a grant took 9 ms to the app instead of 6.
    public static let sessionParameters = [
        "enable_seqscan": "off", "jit": "off", "plan_cache_mode": "force_generic_plan",
    ]

    /// See ``PostgresPool/hasMetForeignStatement``.
    public var hasMetForeignStatement: Bool { database.hasMetForeignStatement }

    /// Reads the database's time into the clock.
    public func readClock() async throws {
        let sent = ContinuousClock.now
        let rows = try await database.query("SELECT clock_timestamp() AS now", timeout: .seconds(3))
        guard let row = rows.first else { return }
        memory.clock.observe(try row.timestamp("now"), sent: sent)
    }

    /// A check of what every purchase needs of the database. `/readyz` names the failed ones.
    public enum Probe: String, Sendable, CaseIterable {
        case accept, claim
    }

    /// Runs a statement without purchases. The server checks tables, columns and privileges, and writes nothing.
    ///
    /// - Throws: ``PostgresError``.
    public func run(_ probe: Probe) async throws {
        switch probe {
        case .accept:
            _ = try await database.query(
                AcceptStatement.query([], timeout: .seconds(1)), timeout: .seconds(5))
            // Each purchase needs the publishers' accounts and the offers.
            _ = try await publishers.ownAccounts()
            _ = try await database.query("SELECT FROM offers, offer_products, offer_coupons LIMIT 0")
        case .claim:
            let none = Dictionary(uniqueKeysWithValues: PurchaseStore.worked.map { ($0, 0) })
            _ = try await purchases.claimDue(none, lease: .seconds(1))
        }
    }
}
