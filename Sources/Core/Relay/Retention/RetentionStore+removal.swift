import Postgres
import RelayCore

/// Result of dropping a partition.
enum DropOutcome: Sendable, Equatable {
    case dropped
    /// It contains unfinished work that appeared after planning.
    case heldBack
    /// The table stayed locked longer than the drop may wait.
    case locked
    /// The server refuses the drop, as it does if something else depends on the table.
    case failed(String)
}

extension RetentionStore {
    /// Whether unfinished work needs a partition; nil for a table without such work.
    private static func isNeeded(_ partition: WeeklyPartition) -> SQL? {
        let (from, to) = (Int32(clamping: partition.days.lowerBound), Int32(clamping: partition.days.upperBound))
        let days: SQL = """
            w.accepted_on >= DATE 'epoch' + \(.int4(from)) AND w.accepted_on < DATE 'epoch' + \(.int4(to))
            """
        return switch partition.table {
        case .receipts, .timeline, .validations: "SELECT EXISTS (SELECT FROM pursuits w WHERE \(days))"
        case .notifications:
            """
            SELECT EXISTS (SELECT FROM notification_relays w WHERE \(days) AND (NOT w.stands_aside OR w.parked_at IS NOT NULL))
                OR EXISTS (SELECT FROM store_questions w WHERE \(days) AND w.parked_at IS NOT NULL)
                OR EXISTS (SELECT FROM consumption_requests w WHERE \(days) AND w.parked_at IS NOT NULL)
            """
        case .webhookDeliveries: "SELECT EXISTS (SELECT FROM webhook_queue w WHERE \(days))"
        case .cleengEvents: "SELECT EXISTS (SELECT FROM cleeng_events w WHERE \(days) AND w.parked_at IS NOT NULL)"
        case .subscriptionEvents: nil
        }
    }

    private struct HeldBack: Error {}

    /// Drops a partition, in a transaction that checks again for unfinished work. No retry can add work meanwhile,
    /// because retries share a lock on the duty's row. The table is locked only for the drop. The name comes from the
    /// catalog.
    ///
    /// - Throws: ``Duty/Lost``, and ``PostgresError`` if the database is away or another copy dropped the table.
    func drop(_ partition: WeeklyPartition, under duty: Duty) async throws -> DropOutcome {
        do {
            try await database.withTransaction(timeout: .seconds(10)) { transaction in
                try await relay.duties.keep(duty, in: transaction)
                // Writers queue behind a drop that waits for its locks, so it waits only briefly.
                let answers = try await transaction.pipeline(
                    ["SELECT set_config('lock_timeout', '100ms', true)", Self.isNeeded(partition)].compactMap(\.self))
                guard try answers.dropFirst().allSatisfy({ try $0.first?.get(0, as: Bool.self) == false }) else {
                    throw HeldBack()
                }
                try await transaction.execute(script: "DROP TABLE \(partition.name)")
            }
            return .dropped
        } catch is HeldBack {
            return .heldBack
        } catch let error as PostgresError where ["55P03", "40P01"].contains(error.sqlState) {
            return .locked
        } catch let error as PostgresError
            where error.sqlState != nil && error.sqlState != RetentionPass.undefinedTable && !error.isTransient
        {
            return .failed(error.reason)
        }
    }

    /// Removes references to the validations of the next page of a partition.
    ///
    /// - Returns: the place after the page, nil at the end; and the number of validations in the page.
    func forgetPointers(
        after place: PointerPage.Place, in partition: WeeklyPartition, under duty: Duty
    ) async throws -> (next: PointerPage.Place?, count: Int) {
        try await database.withTransaction(timeout: .seconds(30)) { transaction in
            try await relay.duties.keep(duty, in: transaction)
            let page = try await transaction.query(PointerPage.after(place, in: partition))
            guard let last = page.last else { return (nil, 0) }
            let next = try PointerPage.place(of: last)
            try await relay.duties.keep(duty, progress: next.text(in: partition), in: transaction)
            return (next, page.count)
        }
    }

    /// Buckets with old rows in a table's default partition, including pursued ones.
    func oldDefaultBuckets(of table: PartitionedTable, before day: Int) async throws -> [Int16] {
        try await database.query(
            """
            SELECT DISTINCT d.bucket FROM \(unescaped: table.rawValue)_default d
            WHERE d.accepted_on < DATE 'epoch' + \(.int4(Int32(clamping: day)))
            ORDER BY 1
            """
        ).map { try $0.get("bucket") }
    }

    /// Deletes old rows of the default partition, which cannot be dropped, a bounded number at a time. Index used: its
    /// primary key.
    ///
    /// - Returns: how many rows were deleted.
    func removeFromDefault(
        of table: PartitionedTable, bucket: Int16, before day: Int, under duty: Duty
    ) async throws -> Int {
        try await database.withTransaction(timeout: .seconds(30)) { transaction in
            try await relay.duties.keep(duty, in: transaction)
            guard table != .validations else {
                return try await transaction.query(PointerPage.ofDefault(bucket: bucket, before: day)).count
            }
            let rows = SQL(unescaped: "\(table.rawValue)_default")
            let key: SQL = table == .timeline ? "bucket, accepted_on, id, fence, ordinal" : "bucket, accepted_on, id"
            return try await transaction.query(
                """
                DELETE FROM \(rows) d
                WHERE (\(key)) IN (
                    SELECT \(key) FROM \(rows) o
                    WHERE o.bucket = \(.int2(bucket)) AND o.accepted_on < DATE 'epoch' + \(.int4(Int32(clamping: day)))
                      AND NOT EXISTS (SELECT FROM pursuits p WHERE p.bucket = o.bucket AND p.id = o.id)
                      AND NOT EXISTS (SELECT FROM notification_relays r WHERE r.bucket = o.bucket AND r.id = o.id)
                      AND NOT EXISTS (SELECT FROM webhook_queue q WHERE q.bucket = o.bucket AND q.id = o.id)
                      \(table == .cleengEvents ? "AND o.parked_at IS NULL AND o.due_at IS NULL" : "")
                    LIMIT \(unescaped: "\(PointerPage.size)"))
                """
            ).affectedRows
        }
    }
}
