import NIOConcurrencyHelpers
import Postgres

/// The keys in memory: a request is authenticated without asking the database. Looked up anew every two seconds, so that is how
/// long a revoked key lives on; a key that is not found is looked up at once, though not more than once a second, so that
/// guessing costs the database nothing.
public final class KeyRing: Sendable {
    private struct State {
        var keys: [String: APIKey]?
        var loadedAt: ContinuousClock.Instant?
        var loading: Task<Void, any Error>?
    }

    private let store: RelayStore
    private let state = NIOLockedValueBox(State())

    public init(store: RelayStore) {
        self.store = store
    }

    /// Nil for an unknown or revoked key.
    ///
    /// - Throws: ``PostgresError`` where the keys have never been read yet and cannot be now.
    public func authenticate(_ text: some StringProtocol) async throws -> APIKey? {
        guard let (id, digest) = APIKey.parse(text) else { return nil }
        if let key = known(id) { return key.matches(digest) ? key : nil }
        let (isLoaded, age) = state.withLockedValue { state in
            (state.keys != nil, state.loadedAt.map { ContinuousClock.now - $0 })
        }
        if isLoaded, let age, age < .seconds(1) { return nil }
        do {
            try await load()
        } catch  where isLoaded {
            return nil
        }
        guard let key = known(id) else { return nil }
        return key.matches(digest) ? key : nil
    }

    private func known(_ id: String) -> APIKey? {
        state.withLockedValue { $0.keys?[id] }
    }

    /// Those who come while it runs share one look.
    func load() async throws {
        let loading = state.withLockedValue { state in
            if let loading = state.loading { return loading }
            let task = Task { [store, box = self.state] in
                defer { box.withLockedValue { $0.loading = nil } }
                let keys = try await store.keys(includingRevoked: false)
                box.withLockedValue { state in
                    state.keys = Dictionary(keys.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
                    state.loadedAt = .now
                }
            }
            state.loading = task
            return task
        }
        try await loading.value
    }

    /// Until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            try? await load()
            try? await Task.sleep(for: .seconds(2))
        }
    }
}
