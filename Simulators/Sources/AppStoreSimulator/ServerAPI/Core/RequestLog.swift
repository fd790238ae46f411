/// The last calls, oldest first.
struct RequestLog: Sendable {
    struct Entry: Sendable, Encodable {
        let sequence: Int
        /// In milliseconds since 1970.
        let at: Int64
        let method: String
        let path: String
        let query: String?
        let body: String?
        let authorized: Bool
        let outcome: String
        /// nil where it was not answered.
        let status: Int?
    }

    struct Page: Encodable {
        let items: [Entry]
        /// Where there is more: what to send as `after` for it.
        let nextAfter: Int?
        /// How many older ones it no longer holds.
        let forgotten: Int
    }

    let capacity: Int
    private var entries: [Entry] = []
    private(set) var nextSequence = 1

    init(capacity: Int) { self.capacity = capacity }

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        nextSequence += 1
        // Seldom, so that a full log does not move all that it holds at each call.
        if entries.count >= 2 * capacity { entries.removeFirst(entries.count - capacity) }
    }

    mutating func removeAll() { entries.removeAll() }

    func page(after sequence: Int, limit: Int) -> Page {
        let kept = entries.suffix(capacity)
        let rest = kept.drop { $0.sequence <= sequence }
        let items = rest.prefix(limit)
        return Page(
            items: Array(items), nextAfter: rest.count > items.count ? items.last?.sequence : nil,
            forgotten: (kept.first?.sequence ?? nextSequence) - 1)
    }
}
