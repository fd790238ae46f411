/// What is still to come, the earliest first (a binary heap).
///
/// There is no timer: each access first takes off what has become due.
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

    /// Takes off the earliest entry if its time has come.
    mutating func popDue(at now: SimulatedTime) -> Entry? { pop { $0.dueAt <= now } }

    /// Takes off the earliest entry if it is due.
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

/// What is to happen at a time; the lesser happens first.
protocol AgendaEntry: Comparable, Sendable {
    var dueAt: SimulatedTime { get }
}
