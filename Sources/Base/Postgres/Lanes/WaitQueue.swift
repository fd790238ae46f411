/// Waiters in order of arrival. Removing a waiter takes constant time on average and leaves no garbage behind.
struct WaitQueue {
    private var order = FIFO<UInt64>()
    private var present: Set<UInt64> = []

    var count: Int { present.count }

    /// Number of stored entries, including removed waiters.
    var backlog: Int { order.count }

    var ids: Set<UInt64> { present }

    mutating func append(_ id: UInt64) {
        order.append(id)
        present.insert(id)
    }

    mutating func first() -> UInt64? {
        while let id = order.first {
            if present.contains(id) { return id }
            _ = order.popFirst()
        }
        return nil
    }

    mutating func popFirst() -> UInt64? {
        guard let id = first() else { return nil }
        present.remove(id)
        return order.popFirst()
    }

    mutating func remove(_ id: UInt64) {
        guard present.remove(id) != nil else { return }
        // Removed waiters stay in `order` until they are half of it.
        if order.count > 64, order.count > present.count * 2 {
            let present = present
            order.removeAll { !present.contains($0) }
        }
    }
}
