/// Which of many has run out of time. Setting and removing take constant time; the whole is looked through only when the
/// earliest time that was ever set has come.
struct Deadlines {
    typealias Instant = ContinuousClock.Instant

    private var times: [UInt64: Instant] = [:]
    /// No deadline is before this; nil where there is none at all.
    private(set) var earliest: Instant?

    mutating func set(_ id: UInt64, _ time: Instant) {
        times[id] = time
        earliest = min(earliest ?? time, time)
    }

    mutating func remove(_ id: UInt64) {
        times[id] = nil
        if times.isEmpty { earliest = nil }
    }

    /// Removes those whose time has come.
    mutating func takeExpired(_ now: Instant) -> [UInt64] {
        guard let earliest, earliest <= now else { return [] }
        let expired = times.filter { $0.value <= now }.map(\.key)
        for id in expired { times[id] = nil }
        self.earliest = times.values.min()
        return expired
    }
}
