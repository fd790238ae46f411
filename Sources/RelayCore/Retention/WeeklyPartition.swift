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
