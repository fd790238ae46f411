import NIOConcurrencyHelpers

/// The keys that tokens are verified with, as their issuer publishes the set: fetched anew before it is too old to be trusted.
public final class SigningKeys: Sendable {
    /// Which reading of the set a token was verified by.
    typealias Generation = ContinuousClock.Instant

    private struct State {
        var keys: JSONWebKeySet?
        /// When the set was asked for that ``keys`` came from.
        var readAt: ContinuousClock.Instant?
        var triedAt: ContinuousClock.Instant?
        var refreshing: Task<Void, Never>?
    }

    /// The set cannot be read, so nobody knows whether a token is good.
    struct Unavailable: Error {
        let detail: String
    }

    /// A token that names an unknown key makes the set be fetched anew, though not more often than this: anybody can send one.
    static let minimumPause = Duration.seconds(30)
    /// While there is no set to verify with, every request waits for one.
    static let urgentPause = Duration.seconds(1)
    /// After this, or half of the maximum age, the set is fetched anew while the old one stays in use.
    static let refreshAge = Duration.seconds(600)
    /// How long a set is trusted that cannot be fetched anew: so long a withdrawn key may still serve.
    public static let maximumAge = Duration.seconds(3_600)

    private let maximumAge: Duration
    private let refresh: (@Sendable () async throws -> String)?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - jwks: a JSON Web Key Set (RFC 7517); nil where `refresh` is to bring the first one, when it is needed.
    ///   - maximumAge: after which a set is no longer trusted. Without `refresh` it never is over.
    ///   - refresh: brings the set's present text; must end in seconds.
    /// - Throws: ``KeySetError``.
    public init(
        jwks: String?, maximumAge: Duration = SigningKeys.maximumAge,
        refresh: (@Sendable () async throws -> String)? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) async throws {
        var keys: JSONWebKeySet?
        if let jwks {
            do {
                keys = try await JSONWebKeySet(json: jwks)
            } catch let error as KeySetError {
                throw error
            } catch {
                throw KeySetError.malformedKeySet
            }
        }
        self.maximumAge = maximumAge
        self.refresh = refresh
        self.now = now
        let readAt = keys == nil ? nil : now()
        self.state = NIOLockedValueBox(State(keys: keys, readAt: readAt, triedAt: readAt))
    }

    /// The set to verify a token by that names this key. Waits for a new one where the present one lacks it.
    ///
    /// - Throws: ``Unavailable``.
    func keys(for keyID: String?) async throws -> (keys: JSONWebKeySet, generation: Generation?) {
        if let refreshing = refreshIfNeeded(knows: { $0.knows(keyID) }) { await refreshing.value }
        let (keys, readAt, hasFailed) = state.withLockedValue { (trusted($0), $0.readAt, $0.triedAt != $0.readAt) }
        guard let keys else { throw Unavailable(detail: "the key set cannot be read now") }
        // Whether the key is new or made up cannot be known before the set is read again.
        if hasFailed, !keys.knows(keyID) {
            throw Unavailable(detail: "the key set cannot be read now, and the token's key is not in the last one")
        }
        return (keys, readAt)
    }

    /// The reading that serves now; nil where none is trusted. Never waits, but has an old set fetched anew: one that is never refreshed
    /// because every token is known would trust withdrawn keys for too long.
    func generation() -> Generation? {
        _ = refreshIfNeeded { _ in true }
        return state.withLockedValue { trusted($0) == nil ? nil : $0.readAt }
    }

    /// Starts to fetch the set anew where it is old, or lacks a key.
    ///
    /// - Returns: what is to be awaited where the set cannot serve before; nil else.
    private func refreshIfNeeded(knows: (JSONWebKeySet) -> Bool) -> Task<Void, Never>? {
        guard let refresh else { return nil }
        let now = now()
        let (refreshing, mustWait) = state.withLockedValue { state -> (Task<Void, Never>?, Bool) in
            let keys = trusted(state)
            let isLacking = keys.map { !knows($0) } ?? true
            if let running = state.refreshing { return (running, isLacking) }
            let pause = keys == nil ? Self.urgentPause : Self.minimumPause
            if let triedAt = state.triedAt, now - triedAt < min(pause, maximumAge / 2) { return (nil, false) }
            if !isLacking, let readAt = state.readAt, now - readAt < min(Self.refreshAge, maximumAge / 2) {
                return (nil, false)
            }
            state.triedAt = now
            let task = Task { [box = self.state] in
                let keys: JSONWebKeySet? =
                    if let json = try? await refresh() { try? await JSONWebKeySet(json: json) } else { nil }
                box.withLockedValue { state in
                    if let keys {
                        state.keys = keys
                        state.readAt = now
                    }
                    state.refreshing = nil
                }
            }
            state.refreshing = task
            return (task, isLacking)
        }
        return mustWait ? refreshing : nil
    }

    /// Nil where none was ever read, or the last one too long ago.
    private func trusted(_ state: State) -> JSONWebKeySet? {
        guard let keys = state.keys, let readAt = state.readAt else { return nil }
        return refresh == nil || now() - readAt < maximumAge ? keys : nil
    }
}

/// Why tokens cannot be verified at all.
public enum KeySetError: Error {
    /// The key set holds no key that could verify a signature.
    case noUsableKey
    /// The text is no JSON Web Key Set.
    case malformedKeySet
}
