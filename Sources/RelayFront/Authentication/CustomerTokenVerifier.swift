import NIOConcurrencyHelpers
import RelayCore

/// Verifies customers' tokens: JSON Web Tokens signed by a key of the publisher's key set, whose `email` claim is the only
/// email that the app may speak for.
public final class CustomerTokenVerifier: Sendable {
    private struct State {
        var keys: CustomerKeySet?
        /// When the set was asked for that ``keys`` came from.
        var readAt: ContinuousClock.Instant?
        var triedAt: ContinuousClock.Instant?
        var refreshing: Task<Void, Never>?
    }

    /// A token that names an unknown key makes the set be fetched anew, though not more often than this: anybody can send one.
    static let minimumPause = Duration.seconds(30)
    /// While there is no set to verify with, every request waits for one.
    static let urgentPause = Duration.seconds(1)
    /// After this, or half of the maximum age, the set is fetched anew while the old one goes on serving.
    static let refreshAge = Duration.seconds(600)
    /// How long a set is trusted that cannot be fetched anew: so long a withdrawn key may still serve.
    public static let maximumAge = Duration.seconds(3_600)
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

    /// Issuers and audiences, compared by their bytes.
    private typealias Name = Identifier<Expected>

    private let expected: Expected
    private let maximumAge: Duration
    private let refresh: (@Sendable () async throws -> String)?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - jwks: a JSON Web Key Set (RFC 7517); nil where `refresh` is to bring the first one, when it is needed.
    ///   - maximumAge: after which a set is no longer trusted. Without `refresh` it never is over.
    ///   - refresh: brings the set's present text; must end in seconds.
    /// - Throws: ``CustomerTokenError``.
    public convenience init(
        jwks: String?, expected: Expected = Expected(), maximumAge: Duration = CustomerTokenVerifier.maximumAge,
        refresh: (@Sendable () async throws -> String)? = nil
    ) async throws {
        try await self.init(jwks: jwks, expected: expected, maximumAge: maximumAge, refresh: refresh) { .now }
    }

    init(
        jwks: String?, expected: Expected = Expected(), maximumAge: Duration = CustomerTokenVerifier.maximumAge,
        refresh: (@Sendable () async throws -> String)?, now: @escaping @Sendable () -> ContinuousClock.Instant
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
        self.maximumAge = maximumAge
        self.refresh = refresh
        self.now = now
        let readAt = keys == nil ? nil : now()
        self.state = NIOLockedValueBox(State(keys: keys, readAt: readAt, triedAt: readAt))
    }

    /// - Returns: the token's email, trimmed and lower-cased.
    /// - Throws: ``Problem``.
    func verify(_ text: String, now: Timestamp) async throws -> CustomerID {
        guard let token = CustomerToken(text) else { throw Self.invalid }
        try await refreshIfNeeded(for: token)
        let (keys, hasFailed) = state.withLockedValue { (trusted($0), $0.triedAt != $0.readAt) }
        guard let keys else {
            throw Problem(.customerKeysUnavailable, "the key set cannot be read now")
        }
        // Whether the key is new or made up cannot be known before the set is read again.
        if hasFailed, !keys.knows(token.header.kid) {
            throw Problem(
                .customerKeysUnavailable, "the key set cannot be read now, and the token's key is not in the last one")
        }
        guard keys.verifies(token), let claims = token.claims else { throw Self.invalid }
        let seconds = Double(now.microseconds) / 1_000_000
        // One that never ends would open the door for whoever finds it, for ever.
        guard let end = claims.exp, seconds < end + Self.leeway.seconds else { throw Self.invalid }
        if let begin = claims.nbf, seconds < begin - Self.leeway.seconds { throw Self.invalid }
        if let issuer = expected.issuer, claims.iss.map({ Name($0) }) != Name(issuer) { throw Self.invalid }
        if let audience = expected.audience, !claims.aud.map({ Name($0) }).contains(Name(audience)) {
            throw Self.invalid
        }
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
        let now = now()
        let (refreshing, mustWait) = state.withLockedValue { state -> (Task<Void, Never>?, Bool) in
            let keys = trusted(state)
            let isLacking = keys.map { !$0.knows(token.header.kid) } ?? true
            if let running = state.refreshing { return (running, isLacking) }
            let pause = keys == nil ? Self.urgentPause : Self.minimumPause
            if let triedAt = state.triedAt, now - triedAt < min(pause, maximumAge / 2) { return (nil, false) }
            if !isLacking, let readAt = state.readAt, now - readAt < min(Self.refreshAge, maximumAge / 2) {
                return (nil, false)
            }
            state.triedAt = now
            let task = Task { [box = self.state] in
                let keys: CustomerKeySet? =
                    if let json = try? await refresh() { try? await CustomerKeySet(json: json) } else { nil }
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
        if mustWait { await refreshing?.value }
    }

    /// Nil where none was ever read, or the last one too long ago.
    private func trusted(_ state: State) -> CustomerKeySet? {
        guard let keys = state.keys, let readAt = state.readAt else { return nil }
        return refresh == nil || now() - readAt < maximumAge ? keys : nil
    }
}

/// Why customers' tokens cannot be verified at all.
public struct CustomerTokenError: Error, Sendable, Equatable, CustomStringConvertible {
    private enum Code: String {
        case noUsableKey, malformedKeySet
    }

    private let code: Code

    /// The key set holds no key that could verify a signature.
    public static let noUsableKey = Self(code: .noUsableKey)
    /// The text is no JSON Web Key Set.
    public static let malformedKeySet = Self(code: .malformedKeySet)

    /// One of two words, fit for a metric's label.
    public var shortDescription: String { code.rawValue }
    public var description: String { "CustomerTokenError(\(code.rawValue))" }
}
