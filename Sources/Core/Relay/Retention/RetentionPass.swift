import Postgres
public import RelayCore

/// Finds old data and removes as much as the time budget allows. The next pass, in any copy, removes the rest, and
/// completes an interrupted pass.
///
/// The duty's lease lets one copy remove at a time, which saves work and lock waits. Safety does not depend on it: each
/// step is a transaction that checks the duty's fence and may be repeated.
public struct RetentionPass: Sendable {
    public enum Step: Sendable, Equatable {
        /// A dry run.
        case wouldDrop(WeeklyPartition)
        case wouldClearDefault(PartitionedTable)
        case dropped(WeeklyPartition)
        case heldBack(WeeklyPartition, pursued: Int, parked: Int)
        /// Other transactions lock the table; the next pass tries again.
        case locked(WeeklyPartition)
        /// The server refuses to drop it, with its reason. Each pass tries again.
        case failed(WeeklyPartition, String)
        /// Number of a partition's validations so far whose references were removed.
        case forgotten(WeeklyPartition, validations: Int)
        /// Old rows removed from a table's default partition.
        case clearedDefault(PartitionedTable, rows: Int)
        case wouldClear(Leftovers)
        /// Number of rows removed so far.
        case cleared(Leftovers, rows: Int)
        /// The database's date may be wrong: see ``PartitionLook/isClockInDoubt(_:)``. Nothing is removed.
        case clockInDoubt(today: Int)
        /// Another copy holds the duty.
        case elsewhere
        /// The time budget ended before everything was removed.
        case unfinished
    }

    public let policy: RetentionPolicy
    /// Time budget of a pass, checked after each step; nil: no limit. Each pass does at least one step.
    public let budget: Duration?
    let store: RelayStore
    /// Tries of a drop in one pass, and the pause between them.
    let lockTries: Int
    let lockPause: Duration

    public init(
        store: RelayStore, policy: RetentionPolicy, budget: Duration?, lockTries: Int = 3,
        lockPause: Duration = .milliseconds(300)
    ) {
        self.store = store
        self.policy = policy
        self.budget = budget
        self.lockTries = lockTries
        self.lockPause = lockPause
    }

    /// - Parameters:
    ///   - isDryRun: reads only.
    ///   - onLook: receives the partitions before anything is removed.
    ///   - report: receives each step when it is done.
    /// - Returns: the partitions before the pass.
    @discardableResult
    public func run(
        isDryRun: Bool = false, onLook: @Sendable (PartitionLook) -> Void = { _ in }, report: @Sendable (Step) -> Void
    ) async throws -> PartitionLook {
        let look = try await look()
        onLook(look)
        guard !look.isClockInDoubt(policy) else {
            report(.clockInDoubt(today: look.today))
            return look
        }
        let plan = look.plan(policy)
        for partition in plan.heldBack {
            let (count, parked) = look.pursued(in: partition)
            report(.heldBack(partition, pursued: count, parked: parked))
        }
        let olds = PartitionedTable.allCases.filter { look.defaults[$0]?.hasOld == true }
        let leftovers: [Leftovers] =
            if let day = policy.firstKeptDay(today: look.today) {
                try await store.retention.leftovers(before: day)
            } else {
                []
            }
        guard !plan.drops.isEmpty || !olds.isEmpty || !leftovers.isEmpty else { return look }
        guard !isDryRun else {
            for partition in plan.drops { report(.wouldDrop(partition)) }
            for table in olds { report(.wouldClearDefault(table)) }
            for one in leftovers { report(.wouldClear(one)) }
            return look
        }
        guard let duty = try await store.duties.take(.retention) else {
            report(.elsewhere)
            return look
        }
        do {
            try await remove(plan, olds, leftovers, today: look.today, under: duty, report: report)
            try await store.duties.release(duty)
        } catch is Duty.Lost {
            report(.elsewhere)
        } catch let error as PostgresError where error.sqlState == Self.undefinedTable {
            try? await store.duties.release(duty)
            report(.elsewhere)
        } catch {
            try? await store.duties.release(duty)
            throw error
        }
        return look
    }

    /// Error for a partition that another copy dropped since it was listed.
    static let undefinedTable = "42P01"

    /// Looks once more if another copy dropped a partition during the look.
    private func look() async throws -> PartitionLook {
        do {
            return try await store.retention.lookAtPartitions(policy)
        } catch let error as PostgresError where error.sqlState == Self.undefinedTable {
            return try await store.retention.lookAtPartitions(policy)
        }
    }

    private func remove(
        _ plan: RetentionPlan, _ olds: [PartitionedTable], _ leftovers: [Leftovers], today: Int,
        under duty: Duty, report: (Step) -> Void
    ) async throws {
        let end = budget.map { ContinuousClock.now + $0 }
        func isOver() -> Bool { Task.isCancelled || end.map { ContinuousClock.now >= $0 } ?? false }
        // Tables that stay locked. Their further partitions are skipped, since the same lock blocks them.
        var locked: Set<PartitionedTable> = []
        var isFirst = true
        for partition in plan.drops where !locked.contains(partition.table) {
            guard isFirst || !isOver() else { return report(.unfinished) }
            isFirst = false
            if partition.table == .validations {
                guard try await forgetPointers(in: partition, under: duty, isOver, report) else {
                    return report(.unfinished)
                }
            }
            guard try await drop(partition, under: duty, report) else {
                locked.insert(partition.table)
                continue
            }
        }
        for table in olds {
            guard try await clearDefault(of: table, today: today, under: duty, isOver, report) else {
                return report(.unfinished)
            }
        }
        for one in leftovers {
            guard try await clear(one, today: today, under: duty, isOver, report) else { return report(.unfinished) }
        }
    }

    /// - Returns: false if the table is locked.
    private func drop(
        _ partition: WeeklyPartition, under duty: Duty, _ report: (Step) -> Void
    ) async throws -> Bool {
        var triesLeft = max(1, lockTries)
        while true {
            triesLeft -= 1
            switch try await store.retention.drop(partition, under: duty) {
            case .dropped:
                report(.dropped(partition))
                return true
            case .heldBack:
                report(.heldBack(partition, pursued: 1, parked: 0))
                return true
            case .locked where triesLeft > 0: try await Task.sleep(for: lockPause)
            case .locked:
                report(.locked(partition))
                return false
            case .failed(let reason):
                report(.failed(partition, reason))
                return true
            }
        }
    }

    /// - Returns: whether it reached the end of the partition.
    private func forgetPointers(
        in partition: WeeklyPartition, under duty: Duty, _ isOver: () -> Bool, _ report: (Step) -> Void
    ) async throws -> Bool {
        var place = PointerPage.Place(duty.progress, in: partition) ?? .start
        var count = 0
        defer { if count > 0 { report(.forgotten(partition, validations: count)) } }
        repeat {
            let page = try await store.retention.forgetPointers(after: place, in: partition, under: duty)
            count += page.count
            guard let next = page.next else { return true }
            place = next
        } while !isOver()
        return false
    }

    private func clearDefault(
        of table: PartitionedTable, today: Int, under duty: Duty, _ isOver: () -> Bool, _ report: (Step) -> Void
    ) async throws -> Bool {
        guard let day = policy.firstKeptDay(of: table, today: today) else { return true }
        var count = 0
        defer { if count > 0 { report(.clearedDefault(table, rows: count)) } }
        for bucket in try await store.retention.oldDefaultBuckets(of: table, before: day) {
            var removed = 0
            repeat {
                removed = try await store.retention.removeFromDefault(
                    of: table, bucket: bucket, before: day, under: duty)
                count += removed
                if isOver() { return false }
            } while removed == Int(PointerPage.size)
        }
        return true
    }

    private func clear(
        _ leftovers: Leftovers, today: Int, under duty: Duty, _ isOver: () -> Bool, _ report: (Step) -> Void
    ) async throws -> Bool {
        guard let day = policy.firstKeptDay(today: today) else { return true }
        var count = 0
        defer { if count > 0 { report(.cleared(leftovers, rows: count)) } }
        while true {
            let page = try await store.retention.remove(leftovers, before: day, under: duty)
            count += page.count
            guard page.hasMore else { return true }
            if isOver() { return false }
        }
    }
}
