/// Decides which elements go into the next batch. Has no access to time, tasks or databases.
struct BatchQueue<Element: Sendable>: Sendable {
    struct Entry: Sendable {
        let id: UInt64
        let element: Element
        let size: Int
        let keys: [BatchKey]
    }

    let limits: BatchLimits
    /// In order of arrival.
    private(set) var waiting: [Entry] = []

    init(limits: BatchLimits) { self.limits = limits }

    /// False if the queue is full.
    mutating func add(_ entry: Entry) -> Bool {
        guard waiting.count < limits.maxWaiting else { return false }
        waiting.append(entry)
        return true
    }

    /// Removes an element. True if it was still waiting.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// The next batch, oldest first; empty if no element waits.
    ///
    /// An element with a key that is already in the batch stays in the queue, and so do all later ones that share a key
    /// with it. An element larger than a whole batch goes alone.
    mutating func next() -> [Entry] {
        var batch: [Entry] = []
        var stay: [Entry] = []
        var keys: Set<BatchKey> = []
        var bytes = 0
        var seen = 0
        for entry in waiting {
            guard batch.count < limits.maxCount else { break }
            if entry.keys.contains(where: keys.contains) {
                stay.append(entry)
            } else {
                let (sum, isOver) = bytes.addingReportingOverflow(max(0, entry.size))
                guard batch.isEmpty || (!isOver && sum <= limits.maxBytes) else { break }
                bytes = isOver ? .max : sum
                batch.append(entry)
            }
            keys.formUnion(entry.keys)
            seen += 1
        }
        waiting.replaceSubrange(..<seen, with: stay)
        return batch
    }
}

/// Key that two elements of one batch must not share.
///
/// Only the hash is stored: two different values with equal hashes are kept apart needlessly, once in 2^64 times.
struct BatchKey: Hashable, Sendable {
    private let hash: Int

    init(_ value: some Hashable) { hash = value.hashValue }
}

/// Limits of one batch, and of the elements that wait for one.
struct BatchLimits: Sendable {
    var maxCount: Int
    var maxBytes: Int
    var maxWaiting: Int
}
