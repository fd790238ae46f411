/// Pauses by key after failures. A key pauses only for its own failures.
struct Pauses<Key: Hashable & Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Limit of keys. Beyond it, those whose pause ends first are dropped and asked again too early.
    private static var mostKeys: Int { 1_000 }

    private var ends: [Key: Instant] = [:]

    /// - Returns: the remaining pause; nil if there is none.
    func remaining(of key: Key, at now: Instant = .now) -> Duration? {
        ends[key].flatMap { $0 > now ? $0 - now : nil }
    }

    /// Starts a pause, without shortening a longer one.
    mutating func pause(_ key: Key, for duration: Duration, at now: Instant = .now) {
        ends[key] = max(ends[key] ?? now, now + duration)
        guard ends.count > Self.mostKeys else { return }
        ends = ends.filter { $0.value > now }
        while ends.count > Self.mostKeys, let first = ends.min(by: { $0.value < $1.value }) { ends[first.key] = nil }
    }
}
