public import Logging
import Metrics
import NIOConcurrencyHelpers
import Postgres
public import RelayCore
public import ServiceLifecycle

/// Removes data past its retention. Every copy checks once a minute; one at a time removes.
public final class RetentionService: Service {
    public let policy: RetentionPolicy
    private let store: RelayStore
    private let pass: RetentionPass
    private let logger: Logger
    private let interval: Duration
    private let box = NIOLockedValueBox<PartitionLook?>(nil)
    private let failures = NIOLockedValueBox<[WeeklyPartition]>([])

    public init(
        store: RelayStore, policy: RetentionPolicy, logger: Logger, interval: Duration = .seconds(60),
        budget: Duration = .seconds(20)
    ) {
        self.store = store
        self.policy = policy
        self.logger = logger
        self.interval = interval
        pass = RetentionPass(store: store, policy: policy, budget: budget)
    }

    /// The partitions at this copy's last check; nil before the first.
    public var latest: PartitionLook? { box.withLockedValue { $0 } }

    /// The partitions that the server refused to drop in this copy's last pass.
    public var failed: [WeeklyPartition] { failures.withLockedValue { $0 } }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await self.runOnce()
                } catch is CancellationError {
                    return
                } catch {
                    // Before the first migration there are no tables; other services report that.
                    let isEarly = (error as? PostgresError)?.sqlState == "42P01"
                    self.logger.log(
                        level: isEarly ? .debug : .warning, "retention is tried again in a while",
                        metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: self.interval)
            }
        }
    }

    func runOnce() async throws {
        let steps = NIOLockedValueBox<[RetentionPass.Step]>([])
        let look = try await pass.run(
            onLook: { look in box.withLockedValue { $0 = look } },
            report: { step in
                steps.withLockedValue { $0.append(step) }
                tell(step)
            })
        let all = steps.withLockedValue { $0 }
        if !all.contains(.elsewhere) {
            failures.withLockedValue {
                $0 = all.compactMap { if case .failed(let partition, _) = $0 { partition } else { nil } }
            }
        }
        guard !look.isClockInDoubt(policy) else { return }
        if let days = policy.receiptDays {
            // Messages are dropped by the week.
            _ = try await store.webhooks.pruneEndpoints(removedFor: .seconds((days + 8) * 86_400))
        }
        guard let days = policy.days else { return }
        // A bounded number of pages: the next pass deletes the rest.
        for _ in 0..<Self.auditPages {
            guard try await store.audit.prune(olderThan: .seconds(days * 86_400)) > 0 else { return }
        }
    }

    private static let auditPages = 100

    private func tell(_ step: RetentionPass.Step) {
        switch step {
        case .dropped(let partition):
            Counter(label: "relay_retention_dropped_partitions", dimensions: [("table", partition.table.rawValue)])
                .increment()
            logger.notice("a partition is past its time and dropped", metadata: ["partition": "\(partition.name)"])
        case .heldBack(let partition, let pursued, let parked):
            logger.warning(
                "a partition is past its time and kept: purchases in it are still pursued",
                metadata: [
                    "partition": "\(partition.name)", "count": .stringConvertible(pursued),
                    "parked": .stringConvertible(parked),
                ])
        case .clearedDefault(let table, let rows):
            Counter(label: "relay_retention_removed_rows", dimensions: [("table", table.rawValue)]).increment(by: rows)
            logger.notice(
                "old rows are removed from a default partition",
                metadata: ["partition": "\(table.rawValue)_default", "count": .stringConvertible(rows)])
        case .cleared(let leftovers, let rows):
            Counter(label: "relay_retention_removed_rows", dimensions: [("table", leftovers.table)])
                .increment(by: rows)
            logger.notice(
                "old rows \(leftovers.what) are removed",
                metadata: ["table": "\(leftovers.table)", "count": .stringConvertible(rows)])
        case .locked(let partition):
            logger.info(
                "a partition cannot be dropped now: the table is locked", metadata: ["partition": "\(partition.name)"])
        case .failed(let partition, let reason):
            logger.error(
                "a partition is past its time and cannot be dropped",
                metadata: ["partition": "\(partition.name)", "error": "\(reason)"])
        case .forgotten(let partition, let validations):
            logger.info(
                "what points to old validations is removed",
                metadata: ["partition": "\(partition.name)", "count": .stringConvertible(validations)])
        case .clockInDoubt(let today):
            let date = String(Timestamp(seconds: Int64(today) * 86_400).rfc3339.prefix(10))
            logger.warning(
                """
                the database's date may be wrong, so retention removes nothing: check the clock of its machine; if all \
                copies were stopped for weeks, retention continues by itself within two weeks
                """, metadata: ["date": "\(date)"])
        case .elsewhere, .unfinished, .wouldDrop, .wouldClearDefault, .wouldClear: break
        }
    }
}
