public import Logging

/// Connections to one PostgreSQL server, or to whichever of several hosts is the primary, over libpq.
///
/// How it is built:
///
/// - libpq speaks to the server, and so brings TLS, SCRAM, several hosts, service and password files with it. Its calls that
///   block (connecting, asking for a cancel) run on helper threads; all others run on one event thread, on non-blocking sockets
///   in pipeline mode.
/// - The event thread (`EventLoop`) waits in epoll. It is the executor of two actors, the lanes, so that all their state is
///   touched by that thread alone, without locks.
/// - The shared lane is for single statements. Each is a transaction of its own, with its own synchronisation point, and goes
///   to the connection with the fewest in flight; answers come in order, so a slow statement holds up those behind it on its
///   connection. Calls beyond that wait in order of arrival, up to a bound.
/// - The exclusive lane hands a connection to one transaction at a time. Only here can a statement be cancelled on the
///   server.
/// - Every call has a deadline, and every wait is bounded. When a connection is lost, everything in flight on it fails, and
///   its supervisor connects again with growing pauses.
/// - Values travel in binary form, with their types. Statements are prepared on first use on each connection, and known by
///   their text and types. Rows are decoded where they are read, not on the event thread.
public final class PostgresPool: Sendable {
    private let configuration: PostgresConfiguration
    private let shared: SharedLane
    private let exclusive: ExclusiveLane

    /// Starts the event thread. Nothing is connected before ``run()``.
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

    /// True while at least one connection of the shared lane is up.
    public var isConnected: Bool { shared.settings.connectedCount > 0 }

    /// True once another session's prepared statement was in the place of ours: a pooler gives each transaction another session. It stays true:
    /// the next statement may be lucky, and the one after it not.
    public var hasMetForeignStatement: Bool {
        shared.settings.hasMetForeignStatement || exclusive.settings.hasMetForeignStatement
    }

    /// Keeps every connection up until the task is cancelled; then fails what is under way and what waits with
    /// ``PostgresError/Code/closed``, and closes all. To be called once.
    public func run() async {
        let lastPrimary = LastPrimary()
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                for lane in [shared, exclusive] as [any ConnectionLane] {
                    for slot in 0..<lane.settings.connections {
                        let connector = Connector(configuration, lastPrimary: lastPrimary)
                        group.addTask { await SlotSupervisor(lane: lane, connector: connector, slot: slot).run() }
                    }
                }
                // With an unusable connection string every supervisor returns; this still runs until cancelled.
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

    /// Runs one statement in a transaction of its own.
    ///
    /// - Parameters:
    ///   - query: prepared on its connection, unless it is to be planned anew.
    ///   - timeout: counts from the call; at most the configuration's `statementTimeout`.
    /// - Throws: ``PostgresError``; `CancellationError` where the task is cancelled. In both cases a statement that was sent
    ///   may still take effect.
    public func query(_ query: SQL, timeout: Duration? = nil) async throws -> PostgresRows {
        let statement = try EncodedStatement(
            query, isPrepared: configuration.preparesStatements, vault: configuration.vault)
        let timeout = min(timeout ?? configuration.queryTimeout, configuration.statementTimeout)
        return try await shared.query(statement, timeout: timeout)
    }

    /// Runs `body` in a transaction, on a connection of its own: commits where it returns (unless it has done so itself, see
    /// ``PostgresTransaction/commit(with:)``), rolls back where it throws.
    ///
    /// One within the body of another takes a second connection, and may wait for it until its deadline.
    ///
    /// - Parameters:
    ///   - timeout: for all of it, the wait for a connection included. When it is over, or when the task is cancelled,
    ///     the transaction is rolled back at once, and what `body` asks of it afterwards fails.
    ///   - body: uses the transaction, which ends with it.
    /// - Throws: what `body` throws; ``PostgresError``; `CancellationError`. Only a failed COMMIT leaves the outcome unknown.
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
