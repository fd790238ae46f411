/// Until when each key is left alone after a failure, by its own failures only.
struct Pauses<Key: Hashable & Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// With more keys than this, those whose pause ends first are forgotten: they are asked again too early.
    private static var mostKeys: Int { 1_000 }

    private var ends: [Key: Instant] = [:]

    /// - Returns: how long the key is left alone; nil if it is not.
    func remaining(of key: Key, at now: Instant = .now) -> Duration? {
        ends[key].flatMap { $0 > now ? $0 - now : nil }
    }

    /// Leaves the key alone, and does not shorten a longer pause.
    mutating func pause(_ key: Key, for duration: Duration, at now: Instant = .now) {
        ends[key] = max(ends[key] ?? now, now + duration)
        guard ends.count > Self.mostKeys else { return }
        ends = ends.filter { $0.value > now }
        while ends.count > Self.mostKeys, let first = ends.min(by: { $0.value < $1.value }) { ends[first.key] = nil }
    }
}
