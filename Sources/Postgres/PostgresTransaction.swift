import NIOConcurrencyHelpers

/// A transaction under way, as ``PostgresPool/withTransaction(timeout:_:)`` hands it to its body.
///
/// Isolation is the server's default. BEGIN goes out together with the first statement, and COMMIT with the last ones where
/// the body says that they are (``commit(with:)``). After an error every further statement fails (25P02), and so does the
/// whole; catching the error does not save it.
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

    /// The same transaction for those who are to be a part of it: their ``commit(with:)`` leaves the commit to who began it.
    public var joined: PostgresTransaction {
        var joined = self
        joined.isJoined = true
        return joined
    }

    var isCommitted: Bool { hasCommitted.withLockedValue { $0 } }

    /// Runs one statement.
    ///
    /// - Throws: ``PostgresError``; `CancellationError` where the task is cancelled, which ends the transaction.
    public func query(_ query: SQL) async throws -> PostgresRows {
        guard let rows = try await pipeline([query]).first else {
            throw PostgresError(.connectionLost, "an answer without a result")
        }
        return rows
    }

    /// Runs statements in order with one trip to the server and back. Where one fails, those after it are not run.
    ///
    /// - Returns: as many results as there are queries.
    public func pipeline(_ queries: [SQL]) async throws -> [PostgresRows] {
        guard !queries.isEmpty else { return [] }
        return try await run(queries, commits: false)
    }

    /// Runs the transaction's last statements in order, and commits, with one trip to the server and back. Where one fails,
    /// those after it are not run, and nothing is committed. Afterwards the transaction takes nothing more, and what the body
    /// throws undoes nothing.
    ///
    /// Once this is sent, cancelling the task stops it no longer. Where the connection is lost, or the deadline passes (at least
    /// two seconds are given), the statements may run and be committed all the same: the error says that the outcome is
    /// unknown.
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

    /// Runs a text of several statements, as a migration has them, and drops what they return.
    ///
    /// Statements that refuse to run in a transaction, COPY, and COMMIT itself have no place in it.
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
