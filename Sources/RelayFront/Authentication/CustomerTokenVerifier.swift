import NIOConcurrencyHelpers
import RelayCore

/// Verifies customers' tokens: JSON Web Tokens signed by a key of the publisher's key set, whose `email` claim is the only
/// email that the app may speak for.
public final class CustomerTokenVerifier: Sendable {
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

    private struct State {
        var verified = VerifiedTokens()
        /// Generation of the keys that verified them; a new one clears the cache.
        var generation: SigningKeys.Generation?

        mutating func follow(_ present: SigningKeys.Generation) {
            guard generation != present else { return }
            (generation, verified) = (present, VerifiedTokens())
        }
    }

    /// Issuers and audiences, compared by their bytes.
    private typealias Name = Identifier<Expected>

    private let expected: Expected
    private let keys: SigningKeys
    private let state = NIOLockedValueBox(State())

    public init(keys: SigningKeys, expected: Expected = Expected()) {
        self.keys = keys
        self.expected = expected
    }

    /// - Returns: the token's email, trimmed and lower-cased.
    /// - Throws: ``Problem``.
    func verify(_ text: String, now: Timestamp) async throws -> CustomerID {
        if let customer = verified(text, now: now) { return customer }
        guard let token = JSONWebToken(text) else { throw Self.invalid }
        let (set, generation): (JSONWebKeySet, SigningKeys.Generation?)
        do {
            (set, generation) = try await keys.keys(for: token.header.kid)
        } catch let error as SigningKeys.Unavailable {
            throw Problem(.customerKeysUnavailable, error.detail)
        }
        guard set.verifies(token), let claims = token.claims, let entry = entry(claims), entry.isValid(at: now) else {
            throw Self.invalid
        }
        let present = keys.generation()
        state.withLockedValue { state in
            // By another set it may no longer verify.
            guard let generation, generation == present else { return }
            state.follow(generation)
            state.verified.remember(VerifiedTokens.digest(of: text), entry)
        }
        return entry.customer
    }

    /// The customer of a token that the present key set has verified before; nil for every other one. Never waits.
    func verified(_ text: String, now: Timestamp) -> CustomerID? {
        guard text.utf8.count <= JSONWebToken.maximumBytes, let generation = keys.generation() else { return nil }
        let digest = VerifiedTokens.digest(of: text)
        let entry = state.withLockedValue { state in
            state.follow(generation)
            return state.verified.find(digest)
        }
        return entry.flatMap { $0.isValid(at: now) ? $0.customer : nil }
    }

    /// What a token's claims say, whatever the time is; nil where they do not hold.
    private func entry(_ claims: JSONWebToken.Claims) -> VerifiedTokens.Entry? {
        // One that never ends would give access to every finder, for ever.
        guard let end = claims.exp else { return nil }
        if let issuer = expected.issuer, claims.iss.map({ Name($0) }) != Name(issuer) { return nil }
        if let audience = expected.audience, !claims.aud.map({ Name($0) }).contains(Name(audience)) { return nil }
        guard claims.emailVerified != false, let email = claims.email.flatMap({ CustomerEmail($0) }) else { return nil }
        return VerifiedTokens.Entry(customer: email.customer, end: end, begin: claims.nbf)
    }

    // One answer for everything that can be wrong with a token: which it was helps a forger only.
    private static var invalid: Problem {
        Problem(.invalidCustomerToken, "its signature, its times, its issuer, its audience or its email do not hold")
    }
}
