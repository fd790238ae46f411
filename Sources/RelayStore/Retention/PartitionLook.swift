import RelayCore

/// How the weekly partitions stand.
public struct PartitionLook: Sendable {
    public struct Default: Sendable, Equatable {
        /// Rows that no weekly partition holds; counted up to ``countLimit``.
        public var rows: Int
        /// Some of them are past the limit.
        public var hasOld: Bool

        public static let countLimit = 10_000
    }

    /// What is still pursued of one day of acceptance.
    public struct Pursued: Sendable, Equatable {
        public var day: Int
        public var count: Int
        /// Of those, parked for an operator.
        public var parked: Int
    }

    /// The database's day in UTC, since 1970.
    public var today: Int
    public var partitions: [WeeklyPartition]
    public var defaults: [PartitionedTable: Default]
    /// Days that the policy reaches and that are still pursued.
    public var pursued: [Pursued]
    /// Days with notifications that are still to be passed on.
    public var relayedDays: [Int] = []
    /// Days with messages to webhook endpoints that are still to be delivered.
    public var deliveryDays: [Int] = []
    /// Days with events that are parked.
    public var eventDays: [Int] = []

    public func plan(_ policy: RetentionPolicy) -> RetentionPlan {
        RetentionPlan(
            partitions, policy: policy, today: today, pursuedDays: pursued.map(\.day), relayedDays: relayedDays,
            deliveryDays: deliveryDays, eventDays: eventDays)
    }

    public func pursued(in partition: WeeklyPartition) -> (count: Int, parked: Int) {
        pursued.filter { partition.days.contains($0.day) }
            .reduce((0, 0)) { ($0.0 + $1.count, $0.1 + $1.parked) }
    }

    /// The first day that the oldest partition of a table holds; nil where there is none.
    public func oldestDay(of table: PartitionedTable) -> Int? {
        partitions.filter { $0.table == table }.map(\.days.lowerBound).min()
    }
}
