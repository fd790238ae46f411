/// Deadlines by id. Setting and removing take constant time. A full scan happens only when the earliest time ever set
/// has come.
struct Deadlines {
    typealias Instant = ContinuousClock.Instant

    private var times: [UInt64: Instant] = [:]
    /// Lower bound of all deadlines; nil if there are none.
    private(set) var earliest: Instant?

    mutating func set(_ id: UInt64, _ time: Instant) {
        times[id] = time
        earliest = min(earliest ?? time, time)
    }

    mutating func remove(_ id: UInt64) {
        times[id] = nil
        if times.isEmpty { earliest = nil }
    }

    /// Removes and returns the expired ids.
    mutating func takeExpired(_ now: Instant) -> [UInt64] {
        guard let earliest, earliest <= now else { return [] }
        let expired = times.filter { $0.value <= now }.map(\.key)
        for id in expired { times[id] = nil }
        self.earliest = times.values.min()
        return expired
    }
}
