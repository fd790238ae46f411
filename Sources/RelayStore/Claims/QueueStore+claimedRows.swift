import Logging
import Metrics
import Postgres
import RelayCore

extension QueueStore {
    /// The rows of a claim that can be worked on. One that cannot be decoded counts as a failure, and is parked after five; the
    /// others go on.
    ///
    /// - Parameters:
    ///   - identify: from columns that the schema holds to their types.
    ///   - decode: from the rest.
    func sift<Item>(
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
                // Sealed by a key that this copy does not know (yet): no fault of the row's.
                closed.append(claimed)
            } catch {
                poison.append((claimed, error))
            }
        }
        for (row, error) in poison { await fail(row, error) }
        if !closed.isEmpty { try? await giveBack(closed, after: Self.passingPause) }
        return items
    }

    /// After trouble that is not the row's own.
    private static let passingPause = Duration.seconds(5)

    /// Ends a claim that came to nothing: what is wrong decides whether that is held against the row.
    public func interrupted(_ rows: [ClaimedRow], by error: any Error) async {
        // Of several, nobody knows which.
        if rows.count == 1, error.countsAgainstRow, !Task.isCancelled { return await fail(rows[0], error) }
        let pause = Task.isCancelled || error is CancellationError ? .zero : Self.passingPause
        // While the database is away, until it is back or the leases are nearly over.
        for _ in 0..<20 {
            // The task's own cancellation would cancel the statement.
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

    /// Counts that a row could not be processed for what is in it, and parks it the fifth time; at once where its workers died.
    public func fail(_ row: ClaimedRow, _ error: any Error) async {
        let why = Self.reason(error)
        let pause = row.record.isDeadly ? nil : row.record.pauseAfterFailure
        do {
            let written = try await Task {
                try await database.query(row.queue.fail(row, why: why, pause: pause))
            }.value
            guard written.affectedRows > 0 else { return }
        } catch {
            // It comes again when its lease is over.
            memory.logger.error("a row cannot be parked", metadata: describe(row, "\(error)"))
            return
        }
        guard pause == nil else {
            return memory.logger.warning("a row cannot be processed: it is tried again", metadata: describe(row, why))
        }
        Counter(label: "relay_items_parked", dimensions: [("queue", row.queue.rawValue)]).increment()
        memory.logger.error("a row is parked for an operator", metadata: describe(row, why))
    }

    /// Gives rows back as if they had not been claimed.
    ///
    /// - Parameter keepsStrikes: they were not worked on: the strikes that they had before the claim stay.
    public func giveBack(
        _ rows: [ClaimedRow], after pause: Duration = .zero, keepsStrikes: Bool = false
    ) async throws {
        guard let queue = rows.first?.queue else { return }
        _ = try await database.query(
            queue.giveBack(rows, after: pause, keepsStrikes: keepsStrikes), timeout: .seconds(2))
    }

    /// Puts off the next attempt at a claimed row. Changes nothing if another claim has followed.
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

    /// Makes a row due that an operator wants processed once more.
    ///
    /// - Parameter onlyParked: nothing is done with one that is not parked.
    /// - Returns: whose it is; nil where there was none in the scope.
    func replay(
        _ queue: WorkQueue, _ key: ClaimedRow.Key, in scope: OpsScope, onlyParked: Bool
    ) async throws -> OpsScope? {
        try await database.query(queue.replay(key, in: scope, onlyParked: onlyParked)).first.map { row in
            try row.get(0, as: PublisherID?.self).map { .publisher($0) } ?? .all
        }
    }

    /// Names what is wrong and none of what the row holds. A NUL may be what is wrong with it.
    private static func reason(_ error: any Error) -> String {
        String(PoisonRow.describe(error).replacing("\0", with: "").prefix(200))
    }

    private func describe(_ row: ClaimedRow, _ error: String) -> Logger.Metadata {
        ["queue": "\(row.queue.rawValue)", "id": "\(row.name)", "error": "\(error)"]
    }
}

extension Error {
    /// Whether the data itself is to blame, so that no other try will do better: data exceptions (22), broken constraints
    /// (23), limits of the server (54), and rows that this version cannot read or does not find. A right that is missing or a
    /// table that is not there is our own fault, and blames no row; all else passes.
    package var isForGood: Bool {
        guard let error = self as? PostgresError else { return self is StoreError }
        if [.decoding, .invalidQuery].contains(error.code) { return true }
        return ["22", "23", "54"].contains { error.sqlState?.hasPrefix($0) == true } && !error.isTransient
    }

    /// Whether a row that could not be processed may be to blame: not for a database that is away, and not for a shutdown.
    var countsAgainstRow: Bool { isForGood || !(self is PostgresError || self is CancellationError) }
}
