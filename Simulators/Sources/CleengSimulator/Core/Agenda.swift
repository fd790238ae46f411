/// Future events, the earliest first (a binary heap).
///
/// There is no timer: each access first removes entries that have become due.
struct Agenda<Entry: AgendaEntry>: Sendable {
    private var heap: [Entry] = []

    var count: Int { heap.count }

    /// In no particular order.
    var all: some Sequence<Entry> { heap }

    mutating func add(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child] < heap[parent] else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the earliest entry if its time has come.
    mutating func popDue(at now: SimulatedTime) -> Entry? { pop { $0.dueAt <= now } }

    /// Removes the earliest entry if it is due.
    mutating func pop(if isDue: (Entry) -> Bool) -> Entry? {
        guard let first = heap.first, isDue(first) else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            guard least != parent else { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

/// A future event; the lesser one happens first.
protocol AgendaEntry: Comparable, Sendable {
    var dueAt: SimulatedTime { get }
}
