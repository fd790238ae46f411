/// A dictionary that drops its oldest entry when a new one would exceed its capacity.
///
/// A simulator that runs for days under load must neither grow without bound nor stop working.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private(set) var values: [Key: Value] = [:]
    private var order: [Key] = []
    private var oldest = 0
    let capacity: Int

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { values.count }

    /// Changes the value of an existing key in place; a new key is ignored.
    subscript(key: Key) -> Value? {
        get { values[key] }
        _modify {
            let known = values[key] != nil
            yield &values[key]
            if !known { values[key] = nil }
        }
    }

    /// Adds a new key.
    /// - Returns: the evicted entry, if any.
    mutating func insert(_ value: Value, for key: Key) -> (key: Key, value: Value)? {
        if values.updateValue(value, forKey: key) != nil { return nil }
        if order.count < capacity {
            order.append(key)
            return nil
        }
        let evicted = order[oldest]
        order[oldest] = key
        oldest = (oldest + 1) % capacity
        return values.removeValue(forKey: evicted).map { (evicted, $0) }
    }

    /// All entries, oldest first.
    var inOrder: some Sequence<(key: Key, value: Value)> {
        (order[oldest...] + order[..<oldest]).lazy.compactMap { key in values[key].map { (key, $0) } }
    }
}
