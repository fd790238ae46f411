import Foundation
import Testing

@testable import Postgres

@Suite("Batching")
struct BatcherTests {
    /// Records batches, and holds each until the test releases it.
    private actor Gate {
        private(set) var batches: [[Int]] = []
        private var isOpen: Bool
        private var held: [CheckedContinuation<Void, Never>] = []

        init(isOpen: Bool = false) { self.isOpen = isOpen }

        func pass(_ batch: [Int]) async {
            batches.append(batch)
            if !isOpen { await withCheckedContinuation { held.append($0) } }
        }

        func open() {
            isOpen = true
            for continuation in held { continuation.resume() }
            held = []
        }
    }

    private struct Bad: Error {}

    private func server(_ sqlState: String) -> PostgresError { PostgresError(.server, "m", sqlState: sqlState) }

    /// Holds the first element in its own batch until the others have gathered, then releases it.
    private func submit(
        _ count: Int, to batcher: PostgresBatcher<Int, Int>, behind gate: Gate
    ) async throws -> [Result<Int, any Error>] {
        let tasks = try await gather(count, to: batcher, behind: gate)
        await gate.open()
        var results: [Result<Int, any Error>] = []
        for task in tasks { results.append(await task.result) }
        return results
    }

    private func gather(
        _ count: Int, to batcher: PostgresBatcher<Int, Int>, behind gate: Gate
    ) async throws -> [Task<Int, any Error>] {
        var tasks = [Task { try await batcher.submit(0) }]
        try await eventually { await !gate.batches.isEmpty }
        for number in 1..<count {
            tasks.append(Task { try await batcher.submit(number) })
            try await eventually { batcher.waiting == number }
        }
        return tasks
    }

    @Test func whatArrivesDuringOneBatchFormsTheNext() async throws {
        let gate = Gate()
        let batcher = PostgresBatcher<Int, Int>(maxCount: 100) { batch in
            await gate.pass(batch)
            return batch.map { .success($0 * 2) }
        }
        let results = try await submit(30, to: batcher, behind: gate)
        #expect(try results.map { try $0.get() } == (0..<30).map { $0 * 2 })
        #expect(await gate.batches == [[0], Array(1..<30)])
    }

    @Test func aBadElementFailsAlone() async throws {
        let gate = Gate()
        let batcher = PostgresBatcher<Int, Int>(maxCount: 100) { batch in
            await gate.pass(batch)
            if batch.contains(7) { throw Bad() }
            return batch.map { .success($0) }
        }
        let results = try await submit(20, to: batcher, behind: gate)
        for (number, result) in results.enumerated() {
            #expect((try? result.get()) == (number == 7 ? nil : number))
        }
        #expect(throws: Bad.self) { try results[7].get() }
        // With batches that double, there are far fewer statements than elements.
        #expect(await gate.batches.count < 14)
    }

    @Test func anElementsOwnFailureIsItsOwn() async throws {
        let gate = Gate()
        let batcher = PostgresBatcher<Int, Int>(maxCount: 100) { batch in
            await gate.pass(batch)
            return batch.map { $0 == 3 ? .failure(Bad()) : .success($0) }
        }
        let results = try await submit(6, to: batcher, behind: gate)
        #expect(results.map { (try? $0.get()) != nil } == [true, true, true, false, true, true])
        #expect(await gate.batches.count == 2)
    }

    @Test func aDeadlockIsTriedAgainWholeUpToThreeTimes() async throws {
        let deadlock = server("40P01")
        let gate = Gate()
        let batcher = PostgresBatcher<Int, Int>(maxCount: 100) { batch in
            await gate.pass(batch)
            let tries = await gate.batches.count { $0 == batch }
            if batch.count > 1, tries <= 3 { throw deadlock }
            return batch.map { .success($0) }
        }
        let results = try await submit(5, to: batcher, behind: gate)
        #expect(try results.map { try $0.get() } == Array(0..<5))
        #expect(await gate.batches == [[0]] + Array(repeating: [1, 2, 3, 4], count: 4))
    }

    @Test func whenTheDatabaseIsAwayAllFailAndNothingIsTriedAgain() async throws {
        let away = server("57P03")
        let gate = Gate()
        let batcher = PostgresBatcher<Int, Int>(maxCount: 100) { batch in
            await gate.pass(batch)
            if batch.count > 1 { throw away }
            return batch.map { .success($0) }
        }
        let results = try await submit(10, to: batcher, behind: gate)
        #expect(results.dropFirst().allSatisfy { (try? $0.get()) == nil })
        #expect(await gate.batches.count == 2)
    }

    @Test func anOutageDuringTheSearchForABadElementFailsTheRest() async throws {
        let away = server("57P03")
        let gate = Gate()
        let batcher = PostgresBatcher<Int, Int>(maxCount: 100) { batch in
            await gate.pass(batch)
            if batch.count > 4 { throw Bad() }
            if batch.contains(1) { throw away }
            return batch.map { .success($0) }
        }
        let results = try await submit(9, to: batcher, behind: gate)
        #expect(results.dropFirst().allSatisfy { (try? $0.get()) == nil })
        #expect(await gate.batches == [[0], Array(1..<9), Array(1..<5)])
    }

    @Test func aFlushThatMiscountsIsAnErrorForAllAndIsNotRepeated() async throws {
        let gate = Gate(isOpen: true)
        let batcher = PostgresBatcher<Int, Int>(maxCount: 100) { batch in
            await gate.pass(batch)
            return []
        }
        #expect(await postgresError { _ = try await batcher.submit(1) }?.code == .decoding)
        #expect(await gate.batches.count == 1)
    }

    @Test func equalKeysNeverRunTogether() async throws {
        let running = Running()
        let batcher = PostgresBatcher<Int, Int>(
            maxCount: 8, keys: { [$0 % 5] },
            flush: { batch in
                await running.enter(batch.map { $0 % 5 })
                for _ in 0..<5 { await Task.yield() }
                await running.leave(batch.map { $0 % 5 })
                return batch.map { .success($0) }
            })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let answer = try await batcher.submit(number)
                    #expect(answer == number)
                }
            }
            try await group.waitForAll()
        }
        #expect(await !running.collided)
    }

    private actor Running {
        private var keys: Set<Int> = []
        private(set) var collided = false

        func enter(_ entering: [Int]) {
            for key in entering where !keys.insert(key).inserted { collided = true }
        }

        func leave(_ leaving: [Int]) { keys.subtract(leaving) }
    }

    @Test func bytesAreBounded() async throws {
        let gate = Gate()
        let batcher = PostgresBatcher<Int, Int>(
            maxCount: 100, maxBytes: 10, size: { $0 },
            flush: { batch in
                await gate.pass(batch)
                return batch.map { .success($0) }
            })
        _ = try await submit(7, to: batcher, behind: gate)
        #expect(await gate.batches == [[0], [1, 2, 3, 4], [5], [6]])
    }

    @Test func tooManyWaitersAreTurnedAway() async throws {
        let gate = Gate()
        let batcher = PostgresBatcher<Int, Int>(maxCount: 100, maxWaiting: 4) { batch in
            await gate.pass(batch)
            return batch.map { .success($0) }
        }
        let tasks = try await gather(5, to: batcher, behind: gate)
        #expect(await postgresError { _ = try await batcher.submit(9) }?.code == .overloaded)
        await gate.open()
        for task in tasks { _ = try await task.value }
    }

    @Test func aCancelledWaiterIsDroppedButNotFromARunningBatch() async throws {
        let gate = Gate()
        let batcher = PostgresBatcher<Int, Int>(maxCount: 100) { batch in
            await gate.pass(batch)
            return batch.map { .success($0) }
        }
        let tasks = try await gather(4, to: batcher, behind: gate)
        for index in [0, 2] {
            tasks[index].cancel()
            await #expect(throws: CancellationError.self) { _ = try await tasks[index].value }
        }
        await gate.open()
        #expect(try await tasks[1].value == 1)
        #expect(try await tasks[3].value == 3)
        #expect(await gate.batches == [[0], [1, 3]])
    }

    @Test func aTaskCancelledBeforehandSubmitsNothing() async throws {
        let gate = Gate(isOpen: true)
        let batcher = PostgresBatcher<Int, Int>(maxCount: 100) { batch in
            await gate.pass(batch)
            return batch.map { .success($0) }
        }
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await batcher.submit(1)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await batcher.drain()
        #expect(await gate.batches.isEmpty)
    }

    @Test func drainingWaitsForAllAndThenReturns() async throws {
        let gate = Gate()
        let batcher = PostgresBatcher<Int, Int>(maxCount: 2) { batch in
            await gate.pass(batch)
            return batch.map { .success($0) }
        }
        await batcher.drain()
        let tasks = try await gather(5, to: batcher, behind: gate)
        let drained = Task {
            await batcher.drain()
            return await gate.batches.flatMap { $0 }.count
        }
        // The batch still runs after its caller is cancelled, so the test waits for it.
        tasks[0].cancel()
        _ = await tasks[0].result
        await gate.open()
        #expect(await drained.value == 5)
        for task in tasks.dropFirst() { _ = try await task.value }
    }

    @Test func rowsOfManyCallersShareFewStatementsAndABadOneFailsAlone() async throws {
        try await withPool { pool in
            let table = TestDatabase.name("batched")
            _ = try await pool.query(
                SQL(
                    unescaped: "CREATE TABLE \(table) (n int4 CHECK (n <> 13), t xid DEFAULT pg_current_xact_id()::xid)"
                )
            )
            let batcher = PostgresBatcher<Int32, Int32>(maxCount: 64) { batch in
                let sql = "INSERT INTO \(table) (n) SELECT * FROM unnest($1::int4[])"
                _ = try await pool.query(SQL(sql, [.int4Array(batch)]))
                return batch.map { .success($0) }
            }
            let failed = await withTaskGroup(of: (Int32, String?).self, returning: [Int32: String].self) { group in
                for number in 0..<500 as Range<Int32> {
                    group.addTask {
                        (number, await postgresError { _ = try await batcher.submit(number) }?.sqlState)
                    }
                }
                return await group.reduce(into: [:]) { if let state = $1.1 { $0[$1.0] = state } }
            }
            #expect(failed == [13: "23514"])
            let row = try await pool.query(
                SQL(unescaped: "SELECT count(*), count(DISTINCT n), count(DISTINCT t::text) FROM \(table)"))[0]
            #expect(try row.get(0, as: Int.self) == 499)
            #expect(try row.get(1, as: Int.self) == 499)
            #expect(try row.get(2, as: Int.self) < 250)
            _ = try await pool.query(SQL(unescaped: "DROP TABLE \(table)"))
        }
    }
}
