public import Logging

/// Connections to one PostgreSQL server, or to the primary among several hosts, over libpq.
///
/// Design:
///
/// - libpq speaks to the server, which includes TLS, SCRAM, several hosts, service and password files. Its blocking
///   calls (connecting, requesting a cancel) run on helper threads. All others run on one event thread, on non-blocking
///   sockets in pipeline mode.
/// - The event thread (`EventLoop`) waits in epoll. It is the executor of two actors, the lanes. All their state is
///   used by that thread alone, without locks.
/// - The shared lane is for single statements. Each is its own transaction with its own synchronization point, and goes
///   to the connection with the fewest in flight. Answers come in order, so a slow statement delays those behind it on
///   its connection. Further calls wait in order of arrival, up to a bound.
/// - The exclusive lane assigns a connection to one transaction at a time. Only here can a statement be cancelled on
///   the server.
/// - Every call has a deadline, and every wait is bounded. When a connection is lost, everything in flight on it fails,
///   and its supervisor reconnects with growing pauses.
/// - Values are sent in binary form, with their types. Each connection prepares statements on first use, with text and
///   types as the key. Rows are decoded where they are read, not on the event thread.
public final class PostgresPool: Sendable {
    private let configuration: PostgresConfiguration
    private let shared: SharedLane
    private let exclusive: ExclusiveLane

    /// Starts the event thread. No connection is opened before ``run()``.
    public init(
        _ configuration: PostgresConfiguration, logger: Logger,
        observer: any PostgresObserver = SilentPostgresObserver()
    ) {
        self.configuration = configuration
        let owner = EventLoopOwner()
        func settings(_ lane: PostgresLane) -> LaneSettings {
            LaneSettings(lane, configuration, owner: owner, logger: logger, observer: observer)
        }
        shared = SharedLane(settings: settings(.shared))
        exclusive = ExclusiveLane(settings: settings(.exclusive))
    }

    /// True once the pool has met another session's prepared statement under the name of its own. The cause is a pooler
    /// in transaction mode. It stays true, because later statements may or may not be affected.
    public var hasMetForeignStatement: Bool {
        shared.settings.hasMetForeignStatement || exclusive.settings.hasMetForeignStatement
    }

    /// Keeps all connections up until the task is cancelled. Then fails running and waiting calls with
    /// ``PostgresError/Code/closed``, and closes all connections. Must be called only once.
    public func run() async {
        let lastPrimary = LastPrimary()
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                for lane in [shared, exclusive] as [any ConnectionLane] {
                    for slot in 0..<lane.settings.connections {
                        let connector = PostgresConnector(configuration, lastPrimary: lastPrimary)
                        group.addTask { await SlotSupervisor(lane: lane, connector: connector, slot: slot).run() }
                    }
                }
                // If the connection string is invalid, every supervisor returns. This task keeps `run` going.
                group.addTask { while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) } }
            }
            await shutDown()
        } onCancel: {
            Task { await self.shutDown() }
        }
    }

    private func shutDown() async {
        await shared.shutDown()
        await exclusive.shutDown()
    }

    /// Runs one statement in its own transaction.
    ///
    /// - Parameters:
    ///   - query: prepared on its connection, unless it is planned anew.
    ///   - timeout: counts from the call; at most the configuration's `statementTimeout`.
    /// - Throws: ``PostgresError``; `CancellationError` if the task is cancelled. In both cases a statement that was
    ///   sent may still take effect.
    public func query(_ query: SQL, timeout: Duration? = nil) async throws -> PostgresRows {
        let statement = try EncodedStatement(
            query, isPrepared: configuration.preparesStatements, vault: configuration.vault)
        let timeout = min(timeout ?? configuration.queryTimeout, configuration.statementTimeout)
        return try await shared.query(statement, timeout: timeout)
    }

    /// Runs `body` in a transaction, on its own connection. Commits if `body` returns, unless it has already committed
    /// (``PostgresTransaction/commit(with:)``). Rolls back if it throws.
    ///
    /// A nested call uses a second connection, and may wait for it until its deadline.
    ///
    /// - Parameters:
    ///   - timeout: for the whole call, including the wait for a connection. When it has passed, or the task is
    ///     cancelled, the transaction is rolled back at once. Later calls of `body` then fail.
    ///   - body: uses the transaction, which ends with it.
    /// - Throws: errors of `body`; ``PostgresError``; `CancellationError`. Only a failed COMMIT leaves the outcome
    ///   unknown.
    public func withTransaction<T: Sendable>(
        timeout: Duration? = nil, _ body: @Sendable (PostgresTransaction) async throws -> T
    ) async throws -> T {
        let deadline = ContinuousClock.now + (timeout ?? configuration.queryTimeout)
        let id = exclusive.settings.nextID()
        let transaction = PostgresTransaction(
            lane: exclusive, id: id, preparesStatements: configuration.preparesStatements, vault: configuration.vault)
        return try await withTaskCancellationHandler {
            try await exclusive.acquire(id, deadline: deadline)
            let value: T
            do {
                value = try await body(transaction)
            } catch {
                await exclusive.rollBack(id)
                throw error
            }
            if !transaction.isCommitted { try await exclusive.commit(id) }
            return value
        } onCancel: {
            exclusive.cancel(id)
        }
    }
}
