import RelayCore

/// Waiters by validation. Most validations have only one, which is stored without a nested dictionary.
struct Waiters {
    private var alone: [ValidationID: Waiter] = [:]
    private var together: [ValidationID: [ObjectIdentifier: Waiter]] = [:]
    private(set) var count = 0

    var validations: [ValidationID] { Array(alone.keys) + Array(together.keys) }
    var all: [Waiter] { Array(alone.values) + together.values.flatMap(\.values) }

    func of(_ id: ValidationID) -> [Waiter] {
        if let waiter = alone[id] { return [waiter] }
        return together[id].map { Array($0.values) } ?? []
    }

    mutating func insert(_ waiter: Waiter) {
        count += 1
        if let first = alone.removeValue(forKey: waiter.id) {
            together[waiter.id] = [ObjectIdentifier(first): first, ObjectIdentifier(waiter): waiter]
        } else if together[waiter.id] != nil {
            together[waiter.id]?[ObjectIdentifier(waiter)] = waiter
        } else {
            alone[waiter.id] = waiter
        }
    }

    mutating func remove(_ waiter: Waiter) {
        if alone[waiter.id] === waiter {
            alone[waiter.id] = nil
        } else if together[waiter.id]?.removeValue(forKey: ObjectIdentifier(waiter)) != nil {
            if together[waiter.id]?.isEmpty == true { together[waiter.id] = nil }
        } else {
            return
        }
        count -= 1
    }
}
