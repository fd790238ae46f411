/// How long accepted data is kept, in whole days.
public struct RetentionPolicy: Sendable, Equatable {
    /// Nil: for ever.
    public let days: Int?
    /// Days for which receipts and webhook messages are kept. A receipt is never kept longer than its validation. Nil:
    /// for ever.
    public let receiptDays: Int?

    /// - Parameters: 0 means for ever.
    public init(days: Int, receiptDays: Int) {
        self.days = days > 0 ? days : nil
        let own = receiptDays > 0 ? receiptDays : nil
        self.receiptDays = [own, self.days].compactMap { $0 }.min()
    }

    /// First day whose rows are kept; nil if all are.
    public func firstKeptDay(of table: PartitionedTable, today: Int) -> Int? {
        ([.receipts, .webhookDeliveries].contains(table) ? receiptDays : days).map { today - $0 }
    }

    /// First day whose abandoned rows of features are kept; nil if all are.
    public func firstKeptDay(today: Int) -> Int? { days.map { today - $0 } }

    /// First day of which all tables are complete; nil if nothing is dropped.
    public func firstDayTouched(today: Int) -> Int? {
        PartitionedTable.allCases.compactMap { firstKeptDay(of: $0, today: today) }.max()
    }
}

/// The partitions to drop now.
public struct RetentionPlan: Sendable, Equatable {
    /// Oldest first; within a week in the order of ``PartitionedTable``.
    public var drops: [WeeklyPartition] = []
    /// Partitions past the limit that must stay: rows in them are still in use.
    public var heldBack: [WeeklyPartition] = []

    /// Drops a partition when all its days are past the limit and none is in use. A purchase without a result is never
    /// dropped.
    public init(
        _ partitions: [WeeklyPartition], policy: RetentionPolicy, today: Int, pursuedDays: some Sequence<Int>,
        relayedDays: some Sequence<Int> = [], deliveryDays: some Sequence<Int> = [], eventDays: some Sequence<Int> = []
    ) {
        let (pursued, relayed, delivered) = (Set(pursuedDays), Set(relayedDays), Set(deliveryDays))
        let events = Set(eventDays)
        let order = Dictionary(
            uniqueKeysWithValues: PartitionedTable.allCases.enumerated().map { ($0.element, $0.offset) })
        let past = partitions.filter { partition in
            policy.firstKeptDay(of: partition.table, today: today).map { partition.days.upperBound <= $0 } ?? false
        }
        let sorted = past.sorted {
            ($0.days.lowerBound, order[$0.table] ?? 0) < ($1.days.lowerBound, order[$1.table] ?? 0)
        }
        for partition in sorted {
            let needed: Set<Int> =
                switch partition.table {
                case .receipts, .timeline, .validations: pursued
                case .notifications: relayed
                case .webhookDeliveries: delivered
                case .cleengEvents: events
                case .subscriptionEvents: []
                }
            if needed.contains(where: partition.days.contains) {
                heldBack.append(partition)
            } else {
                drops.append(partition)
            }
        }
    }
}

/// A table that has a partition for each week of acceptance.
public enum PartitionedTable: String, Sendable, CaseIterable {
    // Order of dropping within a week: rows that reference a validation are dropped before it.
    case receipts, timeline, validations, notifications
    case subscriptionEvents = "subscription_events"
    case cleengEvents = "cleeng_events"
    case webhookDeliveries = "webhook_deliveries"
}

/// One week of one table.
public struct WeeklyPartition: Sendable, Equatable {
    public var table: PartitionedTable
    /// Name for use in a statement, quoted if necessary.
    public var name: String
    /// Days since 1970 whose rows it holds.
    public var days: Range<Int>
    /// Size including indexes and out-of-line storage.
    public var bytes: Int64

    public init(table: PartitionedTable, name: String, days: Range<Int>, bytes: Int64) {
        self.table = table
        self.name = name
        self.days = days
        self.bytes = bytes
    }
}
