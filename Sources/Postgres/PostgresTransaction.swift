/// A transaction under way, as ``PostgresPool/withTransaction(timeout:_:)`` hands it to its body.
///
/// Isolation is the server's default. BEGIN goes out together with the first statement. After an error every further
/// statement fails (25P02), and so does the whole; catching the error does not save it.
public struct PostgresTransaction: Sendable {
    let lane: ExclusiveLane
    let id: UInt64
    let preparesStatements: Bool

    /// Runs one statement.
    ///
    /// - Throws: ``PostgresError``; `CancellationError` where the task is cancelled, which ends the transaction.
    public func query(_ query: PostgresQuery) async throws -> PostgresRows {
        guard let rows = try await pipeline([query]).first else {
            throw PostgresError(.connectionLost, "an answer without a result")
        }
        return rows
    }

    /// Runs statements in order with one trip to the server and back. Where one fails, those after it are not run.
    ///
    /// - Returns: as many results as there are queries.
    public func pipeline(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
        guard !queries.isEmpty else { return [] }
        let statements = try queries.map { try EncodedStatement($0, isPrepared: preparesStatements) }
        let results = try await run(.statements(statements))
        guard results.count == queries.count else {
            throw PostgresError(.connectionLost, "as many answers as questions were expected")
        }
        return results.map(PostgresRows.init)
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

    private func run(_ work: Lease.Work) async throws -> [QueryResult] {
        try await withTaskCancellationHandler {
            try await lane.run(id, work)
        } onCancel: {
            lane.cancel(id)
        }
    }
}
