import RelayCore
import Testing

@Suite("Retention periods")
struct RetentionPolicyTests {
    private static let today = 20_000

    private func partition(_ table: PartitionedTable, _ from: Int) -> WeeklyPartition {
        WeeklyPartition(table: table, name: "\(table.rawValue)_\(from)", days: from..<from + 7, bytes: 1)
    }

    private func plan(
        _ partitions: [WeeklyPartition], days: Int, receipts: Int, pursued: [Int] = []
    ) -> RetentionPlan {
        RetentionPlan(
            partitions, policy: RetentionPolicy(days: days, receiptDays: receipts), today: Self.today,
            pursuedDays: pursued)
    }

    @Test("receipts are dropped with the rest at the latest; 0 means never")
    func limits() {
        func limits(_ days: Int, _ receipts: Int) -> [Int?] {
            let policy = RetentionPolicy(days: days, receiptDays: receipts)
            return [policy.days, policy.receiptDays]
        }
        #expect(limits(400, 90) == [400, 90])
        #expect(limits(30, 90) == [30, 30])
        #expect(limits(400, 0) == [400, 400])
        #expect(limits(0, 90) == [nil, 90])
        #expect(limits(0, 0) == [nil, nil])
        #expect(limits(-1, -1) == [nil, nil])
    }

    @Test("a week is dropped when its last day is past the limit, and not a day earlier")
    func wholeWeek() {
        for table in PartitionedTable.allCases {
            // Its last day is 19,993. Kept for seven days, it is dropped on day 20,001.
            let week = partition(table, Self.today - 13)
            #expect(plan([week], days: 7, receipts: 7).drops.isEmpty)
            let older = partition(table, Self.today - 14)
            #expect(plan([older], days: 7, receipts: 7).drops == [older])
        }
    }

    @Test("receipts are dropped earlier, and within a week the rows of a validation before it")
    func order() {
        let old = Self.today - 500
        let young = Self.today - 100
        let all = [young, old].flatMap { from in PartitionedTable.allCases.reversed().map { partition($0, from) } }
        let plan = plan(all, days: 400, receipts: 90)
        #expect(
            plan.drops == [
                partition(.receipts, old), partition(.timeline, old), partition(.validations, old),
                partition(.notifications, old), partition(.subscriptionEvents, old), partition(.cleengEvents, old),
                partition(.webhookDeliveries, old), partition(.receipts, young), partition(.webhookDeliveries, young),
            ])
        #expect(plan.heldBack.isEmpty)
    }

    @Test("a week with a pursuit on any day is held back, first and last day included")
    func heldBack() {
        let week = partition(.validations, Self.today - 500)
        for day in week.days {
            let plan = plan([week], days: 400, receipts: 90, pursued: [day])
            #expect(plan.drops.isEmpty && plan.heldBack == [week])
        }
        for day in [week.days.lowerBound - 1, week.days.upperBound] {
            #expect(plan([week], days: 400, receipts: 90, pursued: [day]).drops == [week])
        }
        // A partition within the limit is not held back.
        let young = partition(.validations, Self.today - 10)
        #expect(plan([young], days: 400, receipts: 90, pursued: Array(young.days)).heldBack.isEmpty)
    }

    @Test("without a limit nothing is dropped")
    func forEver() {
        let all = PartitionedTable.allCases.map { partition($0, 0) }
        #expect(plan(all, days: 0, receipts: 0).drops.isEmpty)
        #expect(RetentionPolicy(days: 0, receiptDays: 0).firstDayTouched(today: Self.today) == nil)
        #expect(RetentionPolicy(days: 400, receiptDays: 90).firstDayTouched(today: Self.today) == Self.today - 90)
    }
}
