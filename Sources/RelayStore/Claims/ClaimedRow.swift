import Foundation
import Postgres
public import RelayCore

/// A row of a ``WorkQueue`` that this process holds, by the row's own columns: its contents may be what cannot be read.
public struct ClaimedRow: Sendable {
    public enum Key: Sendable, Hashable {
        case id(bucket: Int16, day: Int32, UUID)
        case subscription(SubscriptionName)
    }

    let queue: WorkQueue
    public let key: Key
    public let fence: Int32
    public let record: ClaimRecord
    /// The last error, where there was one.
    let trouble: String?

    /// - Parameter columns: where ``WorkQueue/columns(_:)`` begin.
    init(_ queue: WorkQueue, _ key: Key, fence: Int32, _ row: PostgresRow, columns: Int) throws {
        self.queue = queue
        self.key = key
        self.fence = fence
        // This claim's own strike is none yet.
        record = ClaimRecord(
            strikes: max(try row.get(columns, as: Int.self) - 1, 0), failures: try row.get(columns + 1))
        trouble = try row.get(columns + 2)
    }

    /// Of the tables whose keys are a bucket, a day and an id, in the first three columns.
    init(_ queue: WorkQueue, _ row: PostgresRow, fence: Int, columns: Int) throws {
        try self.init(
            queue, .id(bucket: row.get(0), day: row.get(1), row.get(2)), fence: row.get(fence), row, columns: columns)
    }

    /// As the log names it.
    public var name: String {
        switch key {
        case .id(let bucket, let day, let id):
            "\(ValidationID(bucket: Bucket(number: UInt8(truncatingIfNeeded: bucket)), day: UInt16(truncatingIfNeeded: day), uuid: id))"
        case .subscription(let name): "\(name.environment)/\(name.originalTransactionID)"
        }
    }
}

/// What was claimed of a ``WorkQueue``.
public protocol ClaimedItem: Sendable {
    var row: ClaimedRow { get }
}

extension ClaimedRow.Key {
    init(_ id: ValidationID) { self = .id(bucket: Int16(id.bucket.number), day: Int32(id.day), id.uuid) }

    /// Those of one queue.
    static func parameters(_ keys: [Self]) -> [PostgresValue] {
        var (buckets, days, ids): ([Int16], [Int32], [UUID]) = ([], [], [])
        var names: [SubscriptionName] = []
        for key in keys {
            switch key {
            case .id(let bucket, let day, let id):
                buckets.append(bucket)
                days.append(day)
                ids.append(id)
            case .subscription(let name): names.append(name)
            }
        }
        return names.isEmpty ? [.int2Array(buckets), .int4Array(days), .uuidArray(ids)] : LedgerHearing.keys(names)
    }
}
