/// The last calls, oldest first. Holds no secret, no token and no assertion.
struct RequestLog: Sendable {
    struct Entry: Sendable, Encodable {
        var sequence = 0
        /// In milliseconds since 1970.
        let at: Int64
        let method: String
        let path: String
        /// `good`, `bad`, or `absent`.
        let credentials: String
        /// `answered`, `hung` or `reset`.
        let outcome: String
        /// nil where it was not answered.
        let status: Int?
    }

    struct Page: Encodable {
        let items: [Entry]
        /// How many older ones it no longer holds.
        let forgotten: Int
    }

    let capacity: Int
    private var entries: [Entry] = []
    private var nextSequence = 1

    init(capacity: Int) { self.capacity = capacity }

    mutating func add(_ entry: Entry) {
        var entry = entry
        entry.sequence = nextSequence
        nextSequence += 1
        entries.append(entry)
        // Seldom, so that a full log does not move all that it holds at each call.
        if entries.count >= 2 * capacity { entries.removeFirst(entries.count - capacity) }
    }

    mutating func removeAll() { entries.removeAll() }

    var page: Page {
        let kept = entries.suffix(capacity)
        return Page(items: Array(kept), forgotten: (kept.first?.sequence ?? nextSequence) - 1)
    }
}
