import Foundation
import Testing

@testable import Postgres

@Suite("Deadlines")
struct DeadlinesTests {
    private let start = ContinuousClock.now

    @Test func onlyWhatIsDueIsTakenAndOnlyOnce() {
        var deadlines = Deadlines()
        deadlines.set(1, start + .seconds(1))
        deadlines.set(2, start + .seconds(2))
        deadlines.set(3, start + .seconds(3))
        deadlines.remove(2)
        #expect(deadlines.takeExpired(start).isEmpty)
        #expect(deadlines.takeExpired(start + .seconds(2)) == [1])
        #expect(deadlines.takeExpired(start + .seconds(2)).isEmpty)
        #expect(deadlines.earliest == start + .seconds(3))
        #expect(deadlines.takeExpired(start + .seconds(9)) == [3])
        #expect(deadlines.earliest == nil)
    }

    @Test func aNewTimeTakesThePlaceOfTheOld() {
        var deadlines = Deadlines()
        deadlines.set(1, start + .seconds(1))
        deadlines.set(1, start + .seconds(5))
        #expect(deadlines.takeExpired(start + .seconds(2)).isEmpty)
        #expect(deadlines.earliest == start + .seconds(5))
        deadlines.remove(1)
        #expect(deadlines.earliest == nil)
    }
}

@Suite("Queues")
struct QueueTests {
    @Test func aFIFOKeepsItsOrderThroughManyRounds() {
        var queue = FIFO<Int>()
        var next = 0
        var expected = 0
        for round in 0..<500 {
            for _ in 0..<(round % 7) {
                queue.append(next)
                next += 1
            }
            for _ in 0..<(round % 5) where !queue.isEmpty {
                #expect(queue.first == expected)
                #expect(queue.popFirst() == expected)
                expected += 1
            }
            #expect(queue.count == next - expected)
        }
        #expect(queue.takeAll() == Array(expected..<next))
        #expect(queue.popFirst() == nil)
    }

    @Test func aWaiterThatLeavesIsSkippedAndRemoved() {
        var queue = WaitQueue()
        for id in 0..<10_000 as Range<UInt64> {
            queue.append(id)
            if id % 100 != 0 { queue.remove(id) }
        }
        #expect(queue.count == 100)
        #expect(queue.backlog < 400)
        var left: [UInt64] = []
        while let id = queue.popFirst() { left.append(id) }
        #expect(left == (0..<100).map { $0 * 100 })
        queue.remove(5)
        #expect(queue.count == 0)
    }

    @Test func changingTheFirstElementChangesOnlyThat() {
        var queue = FIFO<[Int]>()
        queue.changeFirst { $0.append(9) }
        queue.append([1])
        queue.append([2])
        queue.changeFirst { $0.append(9) }
        #expect(queue.takeAll() == [[1, 9], [2]])
    }
}

@Suite("Choosing a connection")
struct LeastLoadedTests {
    private func choose(_ loads: [(Int, Int)], depth: Int = 4) -> Int? {
        LeastLoaded.choose(
            among: loads.enumerated().map {
                LeastLoaded.Candidate(slot: $0.offset, inFlight: $0.element.0, abandoned: $0.element.1)
            }, depth: depth)
    }

    @Test func theIdlestIsChosen() {
        #expect(choose([(3, 0), (1, 0), (2, 0)]) == 1)
        #expect(choose([(1, 0), (1, 0)]) == 0)
    }

    @Test func oneThatMayBeStuckComesLast() {
        #expect(choose([(1, 1), (3, 0)]) == 1)
        #expect(choose([(1, 1), (4, 0)]) == 0)
    }

    @Test func noneIsChosenWhereAllAreFull() {
        #expect(choose([(4, 0), (5, 0)]) == nil)
        #expect(choose([]) == nil)
    }
}

@Suite("Pauses between tries to connect")
struct ReconnectPauseTests {
    private func pauses(jitter: Double, _ count: Int) -> [Duration] {
        var pause = ReconnectPause(PostgresConfiguration.Backoff())
        return (0..<count).map { _ in pause.next(jitter: jitter) }
    }

    @Test func theyDoubleUpToTheLimit() {
        let expected: [Duration] = [100, 200, 400, 800, 1600, 3000, 3000].map { .milliseconds($0) }
        #expect(pauses(jitter: 1, 7) == expected)
        #expect(pauses(jitter: 1, 200).last == .seconds(3))
    }

    @Test func jitterTakesAwayAtMostHalf() {
        #expect(pauses(jitter: 0, 3) == [.milliseconds(50), .milliseconds(100), .milliseconds(200)])
    }

    @Test func aResetStartsOver() {
        var pause = ReconnectPause(PostgresConfiguration.Backoff())
        for _ in 0..<5 { _ = pause.next(jitter: 1) }
        pause.reset()
        #expect(pause.next(jitter: 1) == .milliseconds(100))
    }
}

@Suite("The cache of prepared statements")
struct StatementCacheTests {
    private func key(_ sql: String, _ types: [UInt32] = []) -> StatementKey { StatementKey(sql: sql, types: types) }

    @Test func theLeastRecentlyUsedIsDropped() {
        var cache = StatementCache(capacity: 2)
        guard case .new(let first, nil) = cache.look(up: key("a")),
            case .new(let second, nil) = cache.look(up: key("b"))
        else {
            Issue.record("two new ones were expected")
            return
        }
        #expect(cache.look(up: key("a")) == .known(name: first))
        guard case .new(let third, let evicted) = cache.look(up: key("c")) else {
            Issue.record("a new one was expected")
            return
        }
        #expect(evicted == second)
        #expect(Set([first, second, third]).count == 3)
        #expect(cache.count == 2)
        #expect(cache.look(up: key("a")) == .known(name: first))
    }

    @Test func otherTypesAreAnotherStatement() {
        var cache = StatementCache()
        _ = cache.look(up: key("a", [23]))
        #expect(cache.look(up: key("a", [23])) == .known(name: "s1"))
        #expect(cache.look(up: key("a", [25])) == .new(name: "s3", evicted: nil))
    }

    @Test func onlyTheStatementOfThatNameIsForgotten() {
        var cache = StatementCache()
        _ = cache.look(up: key("a"))
        cache.forget(key("a"), name: "s9")
        #expect(cache.look(up: key("a")) == .known(name: "s1"))
        cache.forget(key("a"), name: "s1")
        #expect(cache.look(up: key("a")) == .new(name: "s3", evicted: nil))
    }
}

@Suite("Calls that block have a thread of their own")
struct HelperThreadTests {
    @Test func theirResultComesBack() async throws {
        #expect(try await HelperThread.run { 7 } == 7)
    }

    @Test func aCancelledTaskDoesNotWaitForThem() async throws {
        let (started, start) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await HelperThread.run {
                start.finish()
                sleep(20)
            }
        }
        for await _ in started {}
        task.cancel()
        try await within(.seconds(180)) {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}
