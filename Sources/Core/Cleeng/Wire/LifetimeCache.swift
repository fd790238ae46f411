import NIOConcurrencyHelpers

/// What Cleeng answered about customers, in memory only. Bounded in number and age.
///
/// Two generations bound it. When the young one is full, it becomes the old one. A used value moves from the old one to
/// the young one, so values in use stay and unused ones disappear.
final class LifetimeCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var obtainedAt: ContinuousClock.Instant
    }

    private struct State {
        var young: [Key: Entry] = [:]
        var old: [Key: Entry] = [:]
    }

    private let state = NIOLockedValueBox(State())
    private let generation: Int
    private let lifetime: Duration
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter lifetime: from the answer on, whether or not it is used.
    init(
        capacity: Int = 10_000, lifetime: Duration,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.generation = max(1, capacity / 2)
        self.lifetime = lifetime
        self.now = now
    }

    var count: Int {
        state.withLockedValue { $0.young.count + $0.old.count }
    }

    func value(for key: Key) -> Value? {
        let now = now()
        return state.withLockedValue { state in
            guard let entry = state.young[key] ?? state.old[key] else { return nil }
            guard entry.obtainedAt.duration(to: now) < lifetime else {
                state.young[key] = nil
                state.old[key] = nil
                return nil
            }
            keep(entry, for: key, in: &state)
            return entry.value
        }
    }

    func store(_ value: Value, for key: Key) {
        let entry = Entry(value: value, obtainedAt: now())
        state.withLockedValue { keep(entry, for: key, in: &$0) }
    }

    func remove(_ key: Key) {
        state.withLockedValue { state in
            state.young[key] = nil
            state.old[key] = nil
        }
    }

    private func keep(_ entry: Entry, for key: Key, in state: inout State) {
        state.old[key] = nil
        if state.young[key] == nil, state.young.count >= generation {
            state.old = state.young
            state.young = [:]
        }
        state.young[key] = entry
    }
}
