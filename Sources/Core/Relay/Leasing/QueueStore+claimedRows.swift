import Logging
import Metrics
import Postgres
import RelayCore

extension QueueStore {
    /// Decodes claimed rows. A row that cannot be decoded counts as a failure, and is parked after five; the others are
    /// returned.
    ///
    /// - Parameters:
    ///   - identify: reads columns whose types the schema guarantees.
    ///   - decode: reads the other columns.
    func decode<Item>(
        _ rows: PostgresRows, _ identify: (PostgresRow) throws -> ClaimedRow,
        _ decode: (PostgresRow, ClaimedRow) throws -> Item
    ) async throws -> [Item] {
        var items: [Item] = []
        var poison: [(ClaimedRow, any Error)] = []
        var closed: [ClaimedRow] = []
        for row in rows {
            let claimed = try identify(row)
            do {
                guard !claimed.record.isDeadly else {
                    throw StoreError.workersDied(times: claimed.record.strikes, trouble: claimed.trouble)
                }
                items.append(try decode(row, claimed))
            } catch let error as PostgresError where error.isUnavailable {
                // Sealed by a key that this copy does not know, at least not yet. The row is not at fault.
                closed.append(claimed)
            } catch {
                poison.append((claimed, error))
            }
        }
        for (row, error) in poison { await fail(row, error) }
        if !closed.isEmpty { try? await giveBack(closed, after: Self.passingPause) }
        return items
    }

    /// Pause after an error that is not the row's fault.
    private static let passingPause = Duration.seconds(5)

    /// Ends claims after an error in their work. Some errors count as the row's failure.
    public func interrupted(_ rows: [ClaimedRow], by error: any Error) async {
        // One of several rows may be at fault, but it is unknown which.
        if rows.count == 1, error.countsAgainstRow, !Task.isCancelled { return await fail(rows[0], error) }
        let pause = Task.isCancelled || error is CancellationError ? .zero : Self.passingPause
        // Retries while the database is unavailable, twenty times at most. Afterwards the leases expire.
        for _ in 0..<20 {
            // In a task of its own: cancellation of the current task would cancel the statement.
            let isDone = await Task {
                do {
                    try await giveBack(rows, after: pause)
                    return true
                } catch {
                    return (error as? PostgresError)?.isTransient != true
                }
            }.value
            if isDone || Task.isCancelled { return }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Counts a failure caused by the row's content. Parks the row at the fifth failure, or at once if too many of its
    /// claims were never released.
    public func fail(_ row: ClaimedRow, _ error: any Error) async {
        let why = Self.reason(error)
        let pause = row.record.isDeadly ? nil : row.record.pauseAfterFailure
        do {
            let written = try await Task {
                try await database.query(row.queue.fail(row, why: why, pause: pause))
            }.value
            guard written.affectedRows > 0 else { return }
        } catch {
            // The row becomes due again when its lease expires.
            memory.logger.error("a row cannot be parked", metadata: describe(row, "\(error)"))
            return
        }
        guard pause == nil else {
            return memory.logger.warning("a row cannot be processed: it is tried again", metadata: describe(row, why))
        }
        Counter(label: "relay_items_parked", dimensions: [("queue", row.queue.rawValue)]).increment()
        memory.logger.error("a row is parked for an operator", metadata: describe(row, why))
    }

    /// Releases rows as if they had not been claimed.
    ///
    /// - Parameter keepsStrikes: keeps the strikes from before the claim, because the rows were not processed.
    public func giveBack(
        _ rows: [ClaimedRow], after pause: Duration = .zero, keepsStrikes: Bool = false
    ) async throws {
        guard let queue = rows.first?.queue else { return }
        _ = try await database.query(
            queue.giveBack(rows, after: pause, keepsStrikes: keepsStrikes), timeout: .seconds(2))
    }

    /// Postpones the next attempt at a claimed row. Changes nothing if another claim has followed.
    ///
    /// - Returns: whether the claim was still valid.
    @discardableResult
    public func postpone(_ row: ClaimedRow, trouble: String, by pause: Duration) async throws -> Bool {
        try await database.query(row.queue.postpone(row, trouble: trouble.bounded(200), by: pause)).affectedRows > 0
    }

    /// Ends claims of rows that were processed.
    public func clear(_ rows: [ClaimedRow]) async throws {
        guard let queue = rows.first?.queue else { return }
        _ = try await database.query(queue.clear(rows))
    }

    /// Makes a row due that an operator wants processed again.
    ///
    /// - Parameter onlyParked: changes nothing if the row is not parked.
    /// - Returns: the row's publisher; nil if the scope has no such row.
    func replay(
        _ queue: WorkQueue, _ key: ClaimedRow.Key, in scope: OpsScope, onlyParked: Bool
    ) async throws -> OpsScope? {
        try await database.query(queue.replay(key, in: scope, onlyParked: onlyParked)).first.map { row in
            try row.get(0, as: PublisherID?.self).map { .publisher($0) } ?? .all
        }
    }

    /// Describes the error without the row's content. NUL characters are removed, because one may be the cause.
    private static func reason(_ error: any Error) -> String {
        String(PoisonRow.describe(error).replacing("\0", with: "").prefix(200))
    }

    private func describe(_ row: ClaimedRow, _ error: String) -> Logger.Metadata {
        ["queue": "\(row.queue.rawValue)", "id": "\(row.loggedName)", "error": "\(error)"]
    }
}

extension Error {
    /// Whether the data itself is at fault, so that a retry cannot succeed: data exceptions (22), violated constraints
    /// (23), server limits (54), and rows that this version cannot read or find. A missing privilege or table is our
    /// own fault, not the row's. All other errors are temporary.
    package var isForGood: Bool {
        guard let error = self as? PostgresError else { return self is StoreError }
        if [.decoding, .invalidQuery].contains(error.code) { return true }
        return ["22", "23", "54"].contains { error.sqlState?.hasPrefix($0) == true } && !error.isTransient
    }

    /// Whether the transaction took too long and committed nothing. One of its rows may be the reason.
    package var isOverTime: Bool {
        (self as? PostgresError).map { $0.code == .timedOut && !$0.outcomeUnknown } ?? false
    }

    /// Whether the error may be the row's fault. It is not if the database failed temporarily, or at shutdown.
    var countsAgainstRow: Bool { isForGood || !(self is PostgresError || self is CancellationError) }
}
