import NIOConcurrencyHelpers
import RelayCore

/// Customer tokens by email, in memory only. Bounded in number and age.
///
/// Two generations bound it. When the young one is full, it becomes the old one. A used token moves from the old one to
/// the young one, so tokens in use stay and unused ones disappear.
final class CustomerTokenCache: Sendable {
    private struct Entry {
        var token: Secret
        var obtainedAt: ContinuousClock.Instant
    }

    private struct State {
        var young: [EmailAddress: Entry] = [:]
        var old: [EmailAddress: Entry] = [:]
    }

    private let state = NIOLockedValueBox(State())
    private let generation: Int
    private let lifetime: Duration
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter lifetime: well below two weeks, the shortest lifetime of Cleeng's tokens.
    init(
        capacity: Int = 10_000, lifetime: Duration = .seconds(24 * 3600),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.generation = max(1, capacity / 2)
        self.lifetime = lifetime
        self.now = now
    }

    var count: Int {
        state.withLockedValue { $0.young.count + $0.old.count }
    }

    func token(for email: EmailAddress) -> Secret? {
        let now = now()
        return state.withLockedValue { state in
            guard let entry = state.young[email] ?? state.old[email] else { return nil }
            guard entry.obtainedAt.duration(to: now) < lifetime else {
                state.young[email] = nil
                state.old[email] = nil
                return nil
            }
            keep(entry, for: email, in: &state)
            return entry.token
        }
    }

    func store(_ token: Secret, for email: EmailAddress) {
        let entry = Entry(token: token, obtainedAt: now())
        state.withLockedValue { keep(entry, for: email, in: &$0) }
    }

    func remove(_ email: EmailAddress) {
        state.withLockedValue { state in
            state.young[email] = nil
            state.old[email] = nil
        }
    }

    private func keep(_ entry: Entry, for email: EmailAddress, in state: inout State) {
        state.old[email] = nil
        if state.young[email] == nil, state.young.count >= generation {
            state.old = state.young
            state.young = [:]
        }
        state.young[email] = entry
    }
}
