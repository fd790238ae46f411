/// The last requests, in the order in which their bodies had been read (a ring).
struct RequestLog: Sendable {
    private var ring: [LoggedRequest] = []
    private var next = 0
    let capacity: Int

    /// The number that the next request gets; numbers are never used twice.
    private(set) var nextSequence = 1
    private(set) var forgotten = 0

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { ring.count }

    mutating func add(_ request: LoggedRequest) -> Int {
        var request = request
        request.sequence = nextSequence
        nextSequence += 1
        if ring.count < capacity {
            ring.append(request)
        } else {
            ring[next] = request
            forgotten += 1
        }
        next = (next + 1) % capacity
        return request.sequence
    }

    /// Changes an entry that is still there.
    mutating func change(_ sequence: Int, _ change: (inout LoggedRequest) -> Void) {
        guard let index = index(of: sequence) else { return }
        change(&ring[index])
    }

    /// Empties the log; the numbers go on, so that what is still under way finds no foreign entry.
    mutating func removeAll() {
        ring.removeAll(keepingCapacity: true)
        next = 0
        forgotten = 0
    }

    /// Entries after a number, oldest first.
    func entries(after sequence: Int) -> some Sequence<LoggedRequest> {
        let oldest = nextSequence - ring.count
        let first = max(sequence + 1, oldest)
        return (first..<max(first, nextSequence)).lazy.compactMap { number in
            index(of: number).map { ring[$0] }
        }
    }

    private func index(of sequence: Int) -> Int? {
        let age = nextSequence - 1 - sequence
        guard age >= 0, age < ring.count else { return nil }
        return (next - 1 - age + 2 * capacity) % capacity
    }
}
