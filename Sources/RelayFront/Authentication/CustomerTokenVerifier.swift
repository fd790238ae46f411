import NIOConcurrencyHelpers
public import RelayCore

/// Verifies customers' tokens: JSON Web Tokens signed by a key of the publisher's key set, whose `email` claim is the only
/// email that the app may speak for.
public final class CustomerTokenVerifier: Sendable {
    private struct State {
        var keys: CustomerKeySet?
        var triedAt: ContinuousClock.Instant?
        var refreshing: Task<Void, Never>?
    }

    /// A token that names an unknown key makes the set be fetched anew, though not more often than this: anybody can send one.
    static let minimumPause = Duration.seconds(30)
    /// After this the set is fetched anew while the old one goes on serving, so that a withdrawn key is forgotten.
    static let maximumAge = Duration.seconds(600)
    /// Between the issuer's clock and the database's.
    static let leeway = Duration.seconds(5)

    /// What a token must say beside the email, where it is asked for.
    public struct Expected: Sendable, Equatable {
        /// Its `iss`. Nil: any.
        public var issuer: String?
        /// One of its `aud`. Nil: any, or none.
        public var audience: String?

        public init(issuer: String? = nil, audience: String? = nil) {
            self.issuer = issuer
            self.audience = audience
        }
    }

    private let expected: Expected
    private let refresh: (@Sendable () async throws -> String)?
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - jwks: a JSON Web Key Set (RFC 7517); nil where `refresh` is to bring the first one, when it is needed.
    ///   - refresh: brings the set's present text; must end in seconds.
    /// - Throws: ``CustomerTokenError``.
    public init(
        jwks: String?, expected: Expected = Expected(), refresh: (@Sendable () async throws -> String)? = nil
    ) async throws {
        var keys: CustomerKeySet?
        if let jwks {
            do {
                keys = try await CustomerKeySet(json: jwks)
            } catch let error as CustomerTokenError {
                throw error
            } catch {
                throw CustomerTokenError.malformedKeySet
            }
        }
        self.expected = expected
        self.refresh = refresh
        self.state = NIOLockedValueBox(State(keys: keys, triedAt: keys == nil ? nil : .now))
    }

    /// - Returns: the token's email, trimmed and lower-cased.
    /// - Throws: ``Problem``.
    func verify(_ text: String, now: Timestamp) async throws -> CustomerID {
        guard let token = CustomerToken(text) else { throw Self.invalid }
        try await refreshIfNeeded(for: token)
        guard let keys = state.withLockedValue({ $0.keys }) else {
            throw Problem(.customerKeysUnavailable, "the key set could not be read yet")
        }
        guard keys.verifies(token), let claims = token.claims else { throw Self.invalid }
        let seconds = Double(now.microseconds) / 1_000_000
        // One that never ends would open the door for whoever finds it, for ever.
        guard let end = claims.exp, seconds < end + Self.leeway.seconds else { throw Self.invalid }
        if let begin = claims.nbf, seconds < begin - Self.leeway.seconds { throw Self.invalid }
        if let issuer = expected.issuer, claims.iss != issuer { throw Self.invalid }
        if let audience = expected.audience, !claims.aud.contains(audience) { throw Self.invalid }
        guard claims.emailVerified != false, let email = claims.email.flatMap({ CustomerEmail($0) }) else {
            throw Self.invalid
        }
        return email.customer
    }

    // One answer for everything that can be wrong with a token: which it was helps a forger only.
    private static var invalid: Problem {
        Problem(.invalidCustomerToken, "its signature, its times, its issuer, its audience or its email do not hold")
    }

    private func refreshIfNeeded(for token: CustomerToken) async throws {
        guard let refresh else { return }
        let (refreshing, mustWait) = state.withLockedValue { state -> (Task<Void, Never>?, Bool) in
            let age = state.triedAt.map { ContinuousClock.now - $0 } ?? .seconds(Int64.max / 2)
            let isLacking = state.keys.map { !$0.knows(token.header.kid) } ?? true
            // Nothing at all may be asked for more eagerly: every request is waiting for it.
            let pause = state.keys == nil ? .seconds(1) : Self.minimumPause
            if let running = state.refreshing { return (running, isLacking) }
            guard isLacking ? age >= pause : age >= Self.maximumAge else { return (nil, false) }
            state.triedAt = .now
            let task = Task { [box = self.state] in
                let keys: CustomerKeySet? =
                    if let json = try? await refresh() { try? await CustomerKeySet(json: json) } else { nil }
                box.withLockedValue { state in
                    if let keys { state.keys = keys }
                    state.refreshing = nil
                }
            }
            state.refreshing = task
            return (task, isLacking)
        }
        if mustWait { await refreshing?.value }
    }
}
