import NIOConcurrencyHelpers
import Postgres
public import RelayCore

/// API keys in memory, which authenticate requests without a query. They are read again every two seconds, so a revoked
/// key works for at most two seconds.
///
/// An unknown key causes a read at once. Concurrent callers share it, and there are at most twenty reads a second, so
/// guessing costs the database next to nothing. If reads fail, keys remain valid for a minute, because their revocation
/// cannot be seen.
///
/// The newest 10,000 keys are always in memory. Each read also includes older keys that are in use or requested.
public final class KeyRing: Sendable {
    private struct State {
        var keys: [APIKeyID: APIKey]?
        /// When the read that returned ``keys`` was sent.
        var readAt: ContinuousClock.Instant?
        var lookedAt: ContinuousClock.Instant?
        var loading: Task<ContinuousClock.Instant, any Error>?
        /// Requested keys that are not in memory: the next read includes their ids.
        var wanted: Set<APIKeyID> = []
        /// Keys in memory that are not among the newest.
        var others: Set<APIKeyID> = []

        /// - Returns: ids that a read includes besides the newest keys.
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
    ///   - mostNewest: number of newest keys that are always in memory; also the limit of older ones.
    ///   - now: the clock that determines the age of keys.
    init(
        store: RelayStore, mostNewest: Int = KeyStore.mostListed, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.store = store
        self.mostNewest = mostNewest
        self.now = now
    }

    /// Nil for an unknown or revoked key.
    ///
    /// - Throws: ``PostgresError`` if the keys cannot be read, and have never been read, or not for ``maximumAge``.
    public func authenticate(_ text: Substring) async throws -> APIKey? {
        guard let (id, digest) = APIKey.parse(text) else { return nil }
        if let key = known(id) { return key.matches(digest) ? key : nil }
        return try await lookUp(id) { $0.matches(digest) }
    }

    /// The key for which an access token was issued; see ``KeyStore/accessToken(for:)``.
    ///
    /// - Throws: like ``authenticate(_:)``.
    public func authenticate(accessToken text: Substring) async throws -> APIKey? {
        guard let (id, digest) = APIKey.parse(text), AccessToken.isOne(text) else { return nil }
        if let key = known(id), key.matchesToken(digest) { return key }
        // Another copy may have issued it a moment ago.
        return try await lookUp(id) { $0.matchesToken(digest) }
    }

    /// Whether a key that has been accepted is still valid. True while that cannot be read.
    public func isStillValid(_ id: APIKeyID) async -> Bool {
        if known(id) != nil { return true }
        return await (try? lookUp(id) { _ in true } != nil) ?? true
    }

    private func lookUp(_ id: APIKeyID, isRight: (APIKey) -> Bool) async throws -> APIKey? {
        // The id comes from the client: text that cannot be a key's id is not sent to the database.
        guard APIKey.isID(id) else { return nil }
        want(id)
        let arrival = ContinuousClock.now
        // A read that was already under way may have missed the key. Then a second read follows.
        for _ in 0..<2 {
            want(id)
            let lookedAt = try await load()
            if let key = known(id), isRight(key) { return key }
            if lookedAt >= arrival { return nil }
        }
        return nil
    }

    private func want(_ id: APIKeyID) {
        state.withLockedValue { if $0.wanted.count < Self.mostWanted { $0.wanted.insert(id) } }
    }

    /// The same from memory only: nil also for a key that would require a read.
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

    /// Reads the keys. Concurrent callers share one read.
    ///
    /// - Returns: when the read was sent.
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
                // No key is accepted before the list of publishers with their own account has been read.
                try await store.publishers.accountsReady()
                // Requested keys come first. A key that does not fit is read again when it is requested.
                let asked = found.filter { wanted.asked.contains($0.id) }
                let kept = found.filter { !wanted.asked.contains($0.id) }
                let others = asked + kept.prefix(max(mostNewest - asked.count, 0))
                let gone = box.withLockedValue { state -> Set<APIKeyID> in
                    let before = state.keys ?? [:]
                    let keys = Dictionary((newest + others).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
                    state.others = Set(others.map(\.id))
                    (state.keys, state.readAt) = (keys, readAt)
                    return Set(before.keys.filter { keys[$0] == nil })
                }
                store.memory.changes.doubt(gone)
                return lookedAt
            }
            state.loading = task
            return task
        }
        return try await loading.value
    }

    /// Reads the keys periodically until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            _ = try? await load()
            try? await Task.sleep(for: .seconds(2))
        }
    }
}
