/// How long what was accepted is kept, in whole days.
public struct RetentionPolicy: Sendable, Equatable {
    /// Nil: for ever.
    public let days: Int?
    /// Days that receipts and webhook messages are kept; a receipt goes with its validation at the latest. Nil: for
    /// ever.
    public let receiptDays: Int?

    /// - Parameters: 0 for ever.
    public init(days: Int, receiptDays: Int) {
        self.days = days > 0 ? days : nil
        let own = receiptDays > 0 ? receiptDays : nil
        self.receiptDays = [own, self.days].compactMap { $0 }.min()
    }

    /// The first day whose rows are kept; nil where all are.
    public func firstKeptDay(of table: PartitionedTable, today: Int) -> Int? {
        ([.receipts, .webhookDeliveries].contains(table) ? receiptDays : days).map { today - $0 }
    }

    /// The first day of which orders that were never committed, and what was checked for them, are kept; nil where all are.
    public func firstKeptBillingDay(today: Int) -> Int? { days.map { today - $0 } }

    /// The first day that is kept of everything; nil where all are.
    public func firstDayTouched(today: Int) -> Int? {
        PartitionedTable.allCases.compactMap { firstKeptDay(of: $0, today: today) }.max()
    }
}

/// What of the partitions is to go now.
public struct RetentionPlan: Sendable, Equatable {
    /// Oldest first, and of one week in the order of ``PartitionedTable``.
    public var drops: [WeeklyPartition] = []
    /// Past the limit, and yet a purchase in them is still pursued or parked.
    public var heldBack: [WeeklyPartition] = []

    /// A partition goes when the whole of it is past the limit and no day of it is pursued: a purchase that nobody has
    /// answered is never thrown away.
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
    // In the order in which a week's partitions go: a validation never goes before what hangs on it.
    case receipts, timeline, validations, notifications
    case subscriptionEvents = "subscription_events"
    case cleengEvents = "cleeng_events"
    case webhookDeliveries = "webhook_deliveries"
}

/// One week of one table.
public struct WeeklyPartition: Sendable, Equatable {
    public var table: PartitionedTable
    /// As a statement may name it, quoted where it has to be.
    public var name: String
    /// Days since 1970 whose rows it holds.
    public var days: Range<Int>
    /// With indexes and what is stored out of line.
    public var bytes: Int64

    public init(table: PartitionedTable, name: String, days: Range<Int>, bytes: Int64) {
        self.table = table
        self.name = name
        self.days = days
        self.bytes = bytes
    }
}
