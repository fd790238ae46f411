import HTTPServer
import NIOConcurrencyHelpers
import RelayCore

/// Verifies customers' tokens: JSON Web Tokens signed by a key of the publisher's key set. The app may act only for the
/// `email` claim.
public final class CustomerTokenVerifier: Sendable {
    /// Claims that a token must have beside the email, as configured.
    public struct Expected: Sendable, Equatable {
        /// Required `iss`. Nil: any.
        public var issuer: String?
        /// Required member of `aud`. Nil: any, or none.
        public var audience: String?

        public init(issuer: String? = nil, audience: String? = nil) {
            self.issuer = issuer
            self.audience = audience
        }
    }

    private struct State {
        var verified = VerifiedTokens()
        /// Generation of the keys that verified the cached tokens; a new generation clears the cache.
        var generation: SigningKeys.Generation?

        mutating func follow(_ present: SigningKeys.Generation) {
            guard generation != present else { return }
            (generation, verified) = (present, VerifiedTokens())
        }
    }

    /// An issuer or audience, compared by its bytes.
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
            // The token may no longer verify with a newer set.
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

    /// Cache entry for a token's claims, without a check of its times; nil if the claims are invalid.
    private func entry(_ claims: JSONWebToken.Claims) -> VerifiedTokens.Entry? {
        // A token without an end would give access for ever to anyone who obtains it.
        guard let end = claims.exp else { return nil }
        if let issuer = expected.issuer, claims.iss.map({ Name($0) }) != Name(issuer) { return nil }
        if let audience = expected.audience, !claims.aud.map({ Name($0) }).contains(Name(audience)) { return nil }
        guard claims.emailVerified != false, let email = claims.email.flatMap({ CustomerEmail($0) }) else { return nil }
        return VerifiedTokens.Entry(customer: email.customer, end: end, begin: claims.nbf)
    }

    // One error for every defect of a token: the exact defect would only help forgers.
    private static var invalid: Problem {
        Problem(.invalidCustomerToken, "its signature, its times, its issuer, its audience or its email do not hold")
    }
}
