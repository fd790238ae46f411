import NIOConcurrencyHelpers
import Postgres
import RelayCore

/// The keys in memory: a request is authenticated without asking the database. Looked up anew every two seconds, so that is
/// how long a revoked key lives on. A key that is not found is looked up at once; everybody who waits shares the look, and
/// there are at most twenty in a second, so that guessing costs the database next to nothing. Keys that cannot be looked up anew
/// serve for a minute: then nobody knows whether they were revoked.
///
/// The newest 10,000 keys are always in memory. Each look also reads the older keys that are in use, and those that are asked for.
public final class KeyRing: Sendable {
    private struct State {
        var keys: [APIKeyID: APIKey]?
        /// When the look was sent that ``keys`` came from.
        var readAt: ContinuousClock.Instant?
        var lookedAt: ContinuousClock.Instant?
        var loading: Task<ContinuousClock.Instant, any Error>?
        /// Asked for, and not in memory: the next look reads them by their ids.
        var wanted: Set<APIKeyID> = []
        /// In memory, and older than the newest that every look reads.
        var others: Set<APIKeyID> = []

        /// - Returns: what a look reads besides the newest keys.
        mutating func takeWanted() -> (asked: Set<APIKeyID>, all: Set<APIKeyID>) {
            defer { wanted = [] }
            return (wanted, wanted.union(others))
        }
    }

    private static let mostWanted = 1_000
    private static let shortestPause = Duration.milliseconds(50)
    static let maximumAge = Duration.seconds(60)

    private let store: RelayStore
    private let now: @Sendable () -> ContinuousClock.Instant
    private let mostNewest: Int
    private let state = NIOLockedValueBox(State())

    public convenience init(store: RelayStore) {
        self.init(store: store) { .now }
    }

    /// - Parameters:
    ///   - mostNewest: how many of the newest keys are always in memory; at most so many older ones are, too.
    ///   - now: by which keys grow old.
    init(
        store: RelayStore, mostNewest: Int = KeyStore.mostListed, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.store = store
        self.mostNewest = mostNewest
        self.now = now
    }

    /// Nil for an unknown or revoked key.
    ///
    /// - Throws: ``PostgresError`` where the keys cannot be read now, and have never been, or not for ``maximumAge``.
    public func authenticate(_ text: Substring) async throws -> APIKey? {
        guard let (id, digest) = APIKey.parse(text) else { return nil }
        if let key = known(id) { return key.matches(digest) ? key : nil }
        return try await lookUp(id) { $0.matches(digest) }
    }

    /// The key that an access token was given out for; see ``KeyStore/accessToken(for:)``.
    ///
    /// - Throws: as ``authenticate(_:)``.
    public func authenticate(accessToken text: Substring) async throws -> APIKey? {
        guard let (id, digest) = APIKey.parse(text), AccessToken.isOne(text) else { return nil }
        if let key = known(id), key.matchesToken(digest) { return key }
        // It may have been given out by another copy a moment ago.
        return try await lookUp(id) { $0.matchesToken(digest) }
    }

    private func lookUp(_ id: APIKeyID, isRight: (APIKey) -> Bool) async throws -> APIKey? {
        // The id is a stranger's text: what no key has is not sent to the database.
        guard APIKey.isID(id) else { return nil }
        want(id)
        let arrival = ContinuousClock.now
        let isLoaded = state.withLockedValue { trusted($0) != nil }
        // A look that was under way already may have been sent before the key was made: then there is one more.
        for _ in 0..<2 {
            do {
                want(id)
                let lookedAt = try await load()
                if let key = known(id), isRight(key) { return key }
                if lookedAt >= arrival { return nil }
            } catch  where isLoaded {
                return nil
            }
        }
        return nil
    }

    private func want(_ id: APIKeyID) {
        state.withLockedValue { if $0.wanted.count < Self.mostWanted { $0.wanted.insert(id) } }
    }

    /// The same from memory alone: nil also for a key that would have to be looked up.
    public func known(_ text: Substring) -> APIKey? {
        guard let (id, digest) = APIKey.parse(text), let key = known(id), key.matches(digest) else { return nil }
        return key
    }

    private func known(_ id: APIKeyID) -> APIKey? {
        state.withLockedValue { trusted($0)?[id] }
    }

    private func trusted(_ state: State) -> [APIKeyID: APIKey]? {
        guard let readAt = state.readAt, now() - readAt < Self.maximumAge else { return nil }
        return state.keys
    }

    /// Those who come while it runs share one look.
    ///
    /// - Returns: when the look was sent.
    @discardableResult
    func load() async throws -> ContinuousClock.Instant {
        let loading = state.withLockedValue { state in
            if let loading = state.loading { return loading }
            let earliest = state.lookedAt.map { $0 + Self.shortestPause } ?? .now
            let task = Task { [store, now, mostNewest, box = self.state] in
                defer { box.withLockedValue { $0.loading = nil } }
                try await Task.sleep(until: earliest, clock: .continuous)
                let lookedAt = ContinuousClock.now
                let readAt = now()
                let wanted = box.withLockedValue { state in
                    state.lookedAt = lookedAt
                    return state.takeWanted()
                }
                let (newest, found) = try await store.keys.usable(limit: mostNewest, and: wanted.all)
                // Those that somebody waits for come first. Those that are left out are read again when they are asked for.
                let asked = found.filter { wanted.asked.contains($0.id) }
                let kept = found.filter { !wanted.asked.contains($0.id) }
                let others = asked + kept.prefix(max(mostNewest - asked.count, 0))
                box.withLockedValue { state in
                    state.others = Set(others.map(\.id))
                    state.keys = Dictionary((newest + others).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
                    state.readAt = readAt
                }
                return lookedAt
            }
            state.loading = task
            return task
        }
        return try await loading.value
    }

    /// Until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            _ = try? await load()
            try? await Task.sleep(for: .seconds(2))
        }
    }
}
