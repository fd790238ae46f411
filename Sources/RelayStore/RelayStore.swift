import Logging
import Postgres
import RelayCore

/// The relay's tables. One extension for each aggregate, in a folder of its own, with its SQL in it.
///
/// Nothing here decides: what a pursuit does next is ``RelayCore/Pursuit``'s to say. Nothing here keeps state either, but
/// for ``clock`` (the database's time), ``changes`` (who in this process waits for which validation) and ``settled`` (answers
/// that apps ask for again).
public struct RelayStore: Sendable {
    private(set) var pool: Database
    /// The pool's.
    public let vault: Vault
    let logger: Logger
    /// The name under which this process writes leases and timelines.
    public let instance: String
    public let clock: DatabaseClock
    public let changes: ChangeHub
    let settled: SettledCache
    /// Customers' purchases as their publishers were told of them last.
    let told: PurchaseCache
    /// What publishers sell, as it was read last.
    public let catalogue: OfferCatalogue

    /// This process has committed a change of somebody's purchases.
    private let onCustomersChanged: @Sendable () -> Void
    /// This process has committed a message to an endpoint.
    private let onMessagesQueued: @Sendable () -> Void

    public init(
        pool: PostgresPool, vault: Vault, instance: String, logger: Logger,
        onCustomersChanged: @escaping @Sendable () -> Void = {},
        onMessagesQueued: @escaping @Sendable () -> Void = {}
    ) {
        self.pool = Database(pool)
        self.vault = vault
        self.instance = instance
        self.onCustomersChanged = onCustomersChanged
        self.onMessagesQueued = onMessagesQueued
        self.logger = logger
        self.clock = DatabaseClock()
        self.changes = ChangeHub()
        self.settled = SettledCache()
        self.told = PurchaseCache()
        self.catalogue = OfferCatalogue()
    }

    /// After the commit: nobody in this process may be told what was true before it, and who waits is told what is true now.
    func publish(_ changed: [Validation], customers: [CustomerName] = []) {
        pool.afterCommit {
            if !customers.isEmpty {
                told.changed(customers)
                onCustomersChanged()
            }
            settled.changed(changed.map(\.id))
            changes.publish(changed)
        }
    }

    /// The same of what subscriptions' ledgers have heard.
    func publish(_ changed: [Validation], _ closing: LedgerHearing.Closing) {
        publish(changed, customers: closing.customers)
        if closing.hasMessages { pool.afterCommit { onMessagesQueued() } }
    }

    /// Runs `body` with a store whose statements are all of one transaction: it is committed where `body` returns, and nothing has
    /// happened where it throws. Once more, from the beginning, where the server has ended it for another's sake.
    public func transaction<T: Sendable>(
        timeout: Duration? = nil, _ body: @Sendable (RelayStore) async throws -> T
    ) async throws -> T {
        try await retryingDeadlock {
            try await pool.joining(timeout: timeout) { try await body(RelayStore(self, in: $0)) }
        }
    }

    /// Once more where the server has ended the transaction for another's sake.
    func retryingDeadlock<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        // Within a transaction, whoever began it begins it again.
        guard !pool.isTransaction else { return try await body() }
        for _ in 0..<Self.mostConflicts {
            do {
                return try await body()
            } catch let error as PostgresError where error.isConflict {
                continue
            }
        }
        return try await body()
    }

    private static let mostConflicts = 4

    private init(_ store: RelayStore, in database: Database) {
        self = store
        pool = database
    }
}

extension PostgresError {
    /// Whether two transactions met, and this one would succeed after the other. Two that make the row of the same subscription meet in the
    /// index that the insert waits for, or in the other unique one.
    fileprivate var isConflict: Bool {
        ["40P01", "40001"].contains(sqlState) || (sqlState == "23505" && constraint == "subscriptions_owner_no")
    }
}

extension RelayStore {
    /// What each session of the pool begins with.
    ///
    /// The queues are empty most of the time. A plan that the server keeps from such a time would read them from end to end, for each row
    /// anew: claiming out of twenty thousand rows took 51 s by such a plan, and a millisecond by the indexes. Every statement
    /// here has an index to go by. What a plan without one is rated at would have the server compile it.
    public static let sessionParameters = ["enable_seqscan": "off", "jit": "off"]

    /// Asks the database what time it is, and tells ``clock``.
    public func readClock() async throws {
        let sent = ContinuousClock.now
        let rows = try await pool.query("SELECT clock_timestamp() AS now", timeout: .seconds(3))
        guard let row = rows.first else { return }
        clock.observe(try row.timestamp("now"), sent: sent)
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
            _ = try await pool.query(AcceptStatement.query([], timeout: .seconds(1)), timeout: .seconds(5))
        case .claim: _ = try await claimDue([:], lease: .seconds(1))
        }
    }
}
