import NIOConcurrencyHelpers

/// An open transaction, passed to the body of ``PostgresPool/withTransaction(timeout:_:)``.
///
/// Isolation is the server's default. BEGIN is sent together with the first statement, and COMMIT with the last ones if
/// the body uses ``commit(with:)``. After an error, every further statement fails (25P02), and so does the transaction;
/// catching the error does not save it.
public struct PostgresTransaction: Sendable {
    let lane: ExclusiveLane
    let id: UInt64
    let preparesStatements: Bool
    let vault: any PostgresVault
    private let hasCommitted = NIOLockedValueBox(false)
    private var isJoined = false

    init(lane: ExclusiveLane, id: UInt64, preparesStatements: Bool, vault: any PostgresVault) {
        self.vault = vault
        self.lane = lane
        self.id = id
        self.preparesStatements = preparesStatements
    }

    /// The same transaction for code that takes part in it: its ``commit(with:)`` leaves the commit to the owner.
    public var joined: PostgresTransaction {
        var joined = self
        joined.isJoined = true
        return joined
    }

    var isCommitted: Bool { hasCommitted.withLockedValue { $0 } }

    /// Runs one statement.
    ///
    /// - Throws: ``PostgresError``; `CancellationError` if the task is cancelled, which ends the transaction.
    public func query(_ query: SQL) async throws -> PostgresRows {
        guard let rows = try await pipeline([query]).first else {
            throw PostgresError(.connectionLost, "an answer without a result")
        }
        return rows
    }

    /// Runs statements in order with one round trip. If one fails, the later ones are not run.
    ///
    /// - Returns: as many results as there are queries.
    public func pipeline(_ queries: [SQL]) async throws -> [PostgresRows] {
        guard !queries.isEmpty else { return [] }
        return try await run(queries, commits: false)
    }

    /// Runs the transaction's last statements in order, and commits, with one round trip. If one fails, the later ones
    /// are not run, and nothing is committed. Afterwards the transaction accepts nothing more, and errors thrown by the
    /// body undo nothing.
    ///
    /// Once this is sent, cancelling the task no longer stops it. If the connection is lost, or the deadline passes,
    /// the statements may still be committed: the error then says that the outcome is unknown. The deadline is at least
    /// two seconds.
    ///
    /// - Returns: as many results as there are queries.
    public func commit(with queries: [SQL]) async throws -> [PostgresRows] {
        guard !isJoined else { return try await pipeline(queries) }
        let rows = try await run(queries, commits: true)
        hasCommitted.withLockedValue { $0 = true }
        return rows
    }

    private func run(_ queries: [SQL], commits: Bool) async throws -> [PostgresRows] {
        let statements = try queries.map { try EncodedStatement($0, isPrepared: preparesStatements, vault: vault) }
        let results = try await run(.statements(statements, commits: commits))
        guard results.count == queries.count else {
            throw PostgresError(.connectionLost, "as many answers as questions were expected")
        }
        return results.map { PostgresRows(result: $0, vault: vault) }
    }

    /// Runs a text of several statements, such as a migration, and drops their results.
    ///
    /// It must not contain COPY, COMMIT, and statements that cannot run in a transaction.
    public func execute(script: String) async throws {
        guard !script.utf8.contains(0) else {
            throw PostgresError(.invalidQuery, "the script has a NUL character in it")
        }
        _ = try await run(.script(script))
    }

    private func run(_ work: ConnectionLease.Work) async throws -> [QueryResult] {
        try await withTaskCancellationHandler {
            try await lane.run(id, work)
        } onCancel: {
            lane.cancel(id)
        }
    }
}
