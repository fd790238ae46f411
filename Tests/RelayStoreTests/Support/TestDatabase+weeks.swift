import Foundation
import NIOConcurrencyHelpers
import Postgres
import RelayCore

@testable import Relay

extension TestDatabase {
    /// Makes the partitions of the week that many days ago, and of last week, which each running relay has.
    nonisolated func makeWeek(daysAgo: Int) async throws {
        for days in [daysAgo, 7] { try await makeOneWeek(daysAgo: days) }
    }

    nonisolated private func makeOneWeek(daysAgo: Int) async throws {
        let monday: String = try await value(
            "SELECT to_char(date_trunc('week', (now() AT TIME ZONE 'UTC')::date - \(daysAgo)), 'YYYY-MM-DD')")
        let name = monday.replacingOccurrences(of: "-", with: "")
        for table in PartitionedTable.allCases {
            try await run(
                """
                CREATE TABLE IF NOT EXISTS \(table.rawValue)_\(name) PARTITION OF \(table.rawValue)
                FOR VALUES FROM ('\(monday)') TO (DATE '\(monday)' + 7)
                """)
        }
    }

    /// Changes a validation, with all rows that name it, as if it had been accepted that many days ago.
    ///
    /// - Returns: its new id, which contains the new day.
    @discardableResult
    nonisolated func age(_ id: ValidationID, days: Int) async throws -> ValidationID {
        for table in ["receipts", "timeline", "purchases", "subscriptions", "idempotency_keys"] {
            try await run("UPDATE \(table) SET accepted_on = accepted_on - \(days) WHERE id = $1", .uuid(id.uuid))
        }
        let times = "accepted_at = accepted_at - interval '\(days) days', deadline = deadline - interval '\(days) days'"
        try await run("UPDATE pursuits SET accepted_on = accepted_on - \(days), \(times) WHERE id = $1", .uuid(id.uuid))
        try await run(
            "UPDATE validations SET accepted_on = accepted_on - \(days), \(times) WHERE id = $1", .uuid(id.uuid))
        try await run(
            "UPDATE subscriptions SET accepted_at = accepted_at - interval '\(days) days' WHERE id = $1", .uuid(id.uuid)
        )
        try await run("UPDATE transfers SET to_accepted_on = to_accepted_on - \(days) WHERE to_id = $1", .uuid(id.uuid))
        try await run(
            "UPDATE transfers SET from_accepted_on = from_accepted_on - \(days) WHERE from_id = $1", .uuid(id.uuid))
        return ValidationID(bucket: id.bucket, day: id.day - UInt16(days), uuid: id.uuid)
    }

    /// Number of weekly partitions of a table that are older than last week's.
    nonisolated func pastWeeks(of table: PartitionedTable) async throws -> Int {
        try await value(
            """
            SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = '\(table.rawValue)'::regclass AND c.relname ~ '\\d{8}$'
              AND to_date(right(c.relname, 8), 'YYYYMMDD') + 7 <= (now() AT TIME ZONE 'UTC')::date - 7
            """)
    }
}

/// Reports of a retention pass.
final class ToldSteps: Sendable {
    private let box = NIOLockedValueBox<[RetentionPass.Step]>([])

    var all: [RetentionPass.Step] { box.withLockedValue { $0 } }

    func add(_ step: RetentionPass.Step) { box.withLockedValue { $0.append(step) } }

    var dropped: [PartitionedTable] {
        all.compactMap { if case .dropped(let partition) = $0 { partition.table } else { nil } }
    }

    var heldBack: [PartitionedTable] {
        all.compactMap { if case .heldBack(let partition, _, _) = $0 { partition.table } else { nil } }
    }

    var failed: [WeeklyPartition] {
        all.compactMap { if case .failed(let partition, _) = $0 { partition } else { nil } }
    }

    var locked: [PartitionedTable] {
        all.compactMap { if case .locked(let partition) = $0 { partition.table } else { nil } }
    }
}
