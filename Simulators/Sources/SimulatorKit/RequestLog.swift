/// How a call ended.
package enum CallOutcome: String, Sendable, Encodable {
    case inFlight = "in-flight"
    case answered
    case hung
    case reset
    case lostAnswer = "lost-answer"
    case clientLeft = "client-left"
}

/// The last requests, oldest first (a ring).
package struct RequestLog<Entry: Sendable>: Sendable {
    private var ring: [Entry] = []
    private var next = 0
    private let capacity: Int
    /// Sequence number of the next request. Numbers are never used twice.
    private var nextSequence = 1
    /// Number from which dropped requests are counted.
    private var firstCounted = 1

    package init(capacity: Int) { self.capacity = max(1, capacity) }

    package var count: Int { ring.count }
    private var oldest: Int { nextSequence - ring.count }
    /// Number of older requests that were dropped.
    package var forgotten: Int { oldest - firstCounted }

    /// - Parameter entry: makes the entry of a sequence number.
    @discardableResult
    package mutating func add(_ entry: (Int) -> Entry) -> Int {
        let sequence = nextSequence
        if ring.count < capacity { ring.append(entry(sequence)) } else { ring[next] = entry(sequence) }
        next = (next + 1) % capacity
        nextSequence += 1
        return sequence
    }

    /// Changes an entry that is still in the log.
    package mutating func change(_ sequence: Int, _ change: (inout Entry) -> Void) {
        guard let index = index(of: sequence) else { return }
        change(&ring[index])
    }

    /// Empties the log. Numbers continue, so that a request in progress changes no other entry.
    /// - Parameter recount: whether removed entries do not count as dropped.
    package mutating func removeAll(recount: Bool = false) {
        ring.removeAll(keepingCapacity: true)
        next = 0
        if recount { firstCounted = nextSequence }
    }

    /// A page of the entries after a number, oldest first.
    package func page<Item: Encodable>(
        after sequence: Int = 0, limit: Int = .max, where matches: (Entry) -> Bool = { _ in true },
        as item: (Entry) -> Item
    ) -> RequestPage<Item> {
        var items: [Item] = []
        var total = 0
        var last: Int?
        let first = max(sequence < .max ? sequence + 1 : .max, oldest)
        for number in first..<max(first, nextSequence) {
            guard let index = index(of: number), matches(ring[index]) else { continue }
            total += 1
            guard items.count < limit else { continue }
            items.append(item(ring[index]))
            last = number
        }
        return RequestPage(
            items: items, totalItemCount: total, nextAfter: total > items.count ? last : nil, forgotten: forgotten)
    }

    private func index(of sequence: Int) -> Int? {
        let age = nextSequence - 1 - sequence
        guard age >= 0, age < ring.count else { return nil }
        return (next - 1 - age + 2 * capacity) % capacity
    }
}

/// A page of the request log, oldest first.
package struct RequestPage<Item: Encodable>: Encodable {
    package let items: [Item]
    /// Number of matching requests; larger than `items` if the limit cut the page. nil leaves it out.
    package var totalItemCount: Int?
    /// The `after` of the next page, if there is more.
    package let nextAfter: Int?
    package let forgotten: Int
}
