import Testing

@testable import Postgres

@Suite("What goes into which batch")
struct BatchQueueTests {
    private typealias Queue = BatchQueue<Int>

    private func queue(
        _ entries: [(size: Int, key: String?)], maxCount: Int = 100, maxBytes: Int = .max, maxWaiting: Int = 100
    ) -> Queue {
        var queue = Queue(
            limits: BatchLimits(maxCount: maxCount, maxBytes: maxBytes, maxWaiting: maxWaiting))
        for (index, entry) in entries.enumerated() { _ = queue.add(self.entry(index, entry)) }
        return queue
    }

    private func entry(_ index: Int, _ entry: (size: Int, key: String?)) -> Queue.Entry {
        Queue.Entry(
            id: UInt64(index), element: index, size: entry.size, keys: entry.key.map { [BatchKey($0)] } ?? []
        )
    }

    private func take(_ queue: inout Queue) -> [Int] { queue.next().map(\.element) }

    @Test func allWaitingElementsFormABatchInOrder() {
        var queue = queue(Array(repeating: (1, nil), count: 5))
        #expect(take(&queue) == [0, 1, 2, 3, 4])
        #expect(take(&queue).isEmpty)
    }

    @Test func theCountIsBounded() {
        var queue = queue(Array(repeating: (1, nil), count: 5), maxCount: 2)
        let batches = (0..<3).map { _ in take(&queue) }
        #expect(batches == [[0, 1], [2, 3], [4]])
    }

    @Test func theBytesAreBoundedAndALargeOneGoesAlone() {
        var queue = queue([(4, nil), (4, nil), (4, nil), (99, nil), (1, nil), (.max, nil), (.max, nil)], maxBytes: 10)
        let batches = (0..<6).map { _ in queue.next().map(\.element) }
        #expect(batches == [[0, 1], [2], [3], [4], [5], [6]])
    }

    @Test func equalKeysAreNeverTogetherAndKeepTheirOrder() {
        var queue = queue([(1, "a"), (1, "a"), (1, "b"), (1, "a"), (1, nil)])
        let batches = (0..<4).map { _ in take(&queue) }
        #expect(batches == [[0, 2, 4], [1], [3], []])
    }

    /// 1 waits for 0, so 2, which shares another key with 1, waits too.
    @Test func elementsWithSeveralKeysKeepTheOrderOfEach() {
        var queue = Queue(limits: BatchLimits(maxCount: 100, maxBytes: .max, maxWaiting: 100))
        for (index, keys) in [["a", "x"], ["a", "y"], ["b", "y"], ["c", "z"], ["d", "x"]].enumerated() {
            _ = queue.add(
                Queue.Entry(id: UInt64(index), element: index, size: 1, keys: keys.map { BatchKey($0) }))
        }
        let batches = (0..<4).map { _ in take(&queue) }
        #expect(batches == [[0, 3], [1, 4], [2], []])
    }

    @Test func theNumberOfWaitersIsLimited() {
        var queue = queue([(1, nil), (1, nil)], maxWaiting: 2)
        let outcomes = [queue.add(entry(2, (1, nil))), queue.remove(0), queue.remove(0), queue.add(entry(3, (1, nil)))]
        #expect(outcomes == [false, true, false, true])
        #expect(take(&queue) == [1, 3])
        let isStillThere = queue.remove(1)
        #expect(!isStillThere)
    }
}
