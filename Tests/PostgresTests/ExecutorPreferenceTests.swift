import Dispatch
import Postgres
import Synchronization
import Testing

/// Tasks with a preferred executor leave the event thread between any two steps.
@Suite struct ExecutorPreferenceTests {
    private final class Queue: TaskExecutor {
        private let queue = DispatchQueue(label: "a caller's own")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private final class Ended: Sendable {
        let committed = Atomic(0)
        let rolledBack = Atomic(0)
        var count: Int { committed.load(ordering: .relaxed) + rolledBack.load(ordering: .relaxed) }
    }

    private struct Unwanted: Error {}

    /// A wait that starts after its event would never end.
    @Test func transactionsEndForTasksWithAPreferredExecutor() async throws {
        try await withPool {
            $0.exclusiveConnections = 2
        } _: { pool in
            let executor = Queue()
            let ended = Ended()
            for number in 0..<200 {
                Task(executorPreference: executor) {
                    do {
                        try await pool.withTransaction(timeout: .seconds(120)) { transaction in
                            _ = try await transaction.query(SQL("SELECT 1"))
                            if number.isMultiple(of: 2) { throw Unwanted() }
                        }
                        ended.committed.add(1, ordering: .relaxed)
                    } catch is Unwanted {
                        ended.rolledBack.add(1, ordering: .relaxed)
                    }
                }
            }
            let limit = ContinuousClock.now + .seconds(180)
            while ended.count < 200, .now < limit {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(ended.committed.load(ordering: .relaxed) == 100)
            #expect(ended.rolledBack.load(ordering: .relaxed) == 100)
        }
    }
}
