import NIOConcurrencyHelpers

/// An issuer's published keys that verify tokens. The set is fetched again before it becomes too old to be trusted.
public final class SigningKeys: Sendable {
    /// The fetch whose key set verified a token.
    typealias Generation = ContinuousClock.Instant

    private struct State {
        var keys: JSONWebKeySet?
        /// When the fetch of ``keys`` began.
        var readAt: ContinuousClock.Instant?
        var triedAt: ContinuousClock.Instant?
        var refreshing: Task<Void, Never>?
    }

    /// The key set cannot be read, so tokens cannot be verified.
    struct Unavailable: Error {
        let detail: String
    }

    /// A token with an unknown key id causes a new fetch, but at most this often: any client can send such tokens.
    static let minimumPause = Duration.seconds(30)
    /// Shorter pause without a key set, since every request then waits for one.
    static let urgentPause = Duration.seconds(1)
    /// Age after which the set is fetched again while the old one stays in use. At most half of the maximum age.
    static let refreshAge = Duration.seconds(600)
    /// How long a set is trusted that cannot be fetched again. A withdrawn key may remain valid for this long.
    public static let maximumAge = Duration.seconds(3_600)

    private let maximumAge: Duration
    private let refresh: (@Sendable () async throws -> String)?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - jwks: a JSON Web Key Set (RFC 7517); nil if `refresh` supplies the first one when it is needed.
    ///   - maximumAge: age at which a set is no longer trusted. Without `refresh` a set never expires.
    ///   - refresh: fetches the present text of the set; must end within seconds.
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

    /// The set that verifies a token with this key id. Waits for a new set if the present one lacks the key.
    ///
    /// - Throws: ``Unavailable``.
    func keys(for keyID: String?) async throws -> (keys: JSONWebKeySet, generation: Generation?) {
        if let refreshing = refreshIfNeeded(knows: { $0.knows(keyID) }) { await refreshing.value }
        let (keys, readAt, hasFailed) = state.withLockedValue { (trusted($0), $0.readAt, $0.triedAt != $0.readAt) }
        guard let keys else { throw Unavailable(detail: "the key set cannot be read now") }
        // The last fetch failed, so it is unknown whether the key is new or invented.
        if hasFailed, !keys.knows(keyID) {
            throw Unavailable(detail: "the key set cannot be read now, and the token's key is not in the last one")
        }
        return (keys, readAt)
    }

    /// The generation in use; nil if no set is trusted. Never waits, but starts the refresh of an old set. Without
    /// that, a copy whose tokens are all cached would trust withdrawn keys for too long.
    func generation() -> Generation? {
        _ = refreshIfNeeded { _ in true }
        return state.withLockedValue { trusted($0) == nil ? nil : $0.readAt }
    }

    /// Starts to fetch the set if it is old or lacks a key.
    ///
    /// - Returns: the task to wait for, if the present set cannot serve; nil otherwise.
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

    /// The set, unless none was ever read or the last one is too old.
    private func trusted(_ state: State) -> JSONWebKeySet? {
        guard let keys = state.keys, let readAt = state.readAt else { return nil }
        return refresh == nil || now() - readAt < maximumAge ? keys : nil
    }
}

/// Why tokens cannot be verified at all.
public enum KeySetError: Error {
    /// The key set contains no key that can verify a signature.
    case noUsableKey
    /// The text is not a JSON Web Key Set.
    case malformedKeySet
}
