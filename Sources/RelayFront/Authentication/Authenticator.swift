import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// Who asks, and whether the key opens what is asked for.
struct Authenticator: Sendable {
    let keys: KeyRing
    let customerTokens: CustomerTokenVerifier?
    let clock: DatabaseClock
    /// How often a key may be used.
    var limits: RateLimits?

    /// - Throws: ``Problem`` 401 and 403; ``Postgres/PostgresError`` where no key has ever been read yet.
    func key(_ request: Request, _ context: FrontContext, opening role: KeyRole) async throws -> APIKey {
        guard let credentials = BearerCredentials.parse(request.headers[.authorization]) else {
            throw Problem(.missingKey, "send Authorization: Bearer KEY")
        }
        return try await key(credentials, context, opening: role)
    }

    /// The same for those who name the publisher beside the key.
    ///
    /// - Parameter query: of the request: the two may stand there.
    func key(
        _ request: Request, _ context: FrontContext, named query: QueryItems, opening role: KeyRole
    ) async throws -> APIKey {
        guard let named = NamedCredentials(authorization: request.headers[.authorization], query: query) else {
            throw Problem(.missingKey, "Invalid credentials: send appName and apiKey")
        }
        let key = try await key(Substring(named.key), context, opening: nil)
        guard key.publisher == named.publisher else {
            throw Problem(.unknownKey, "appName and apiKey do not match")
        }
        return try check(key, opens: role)
    }

    /// - Parameter role: nil where it is checked later.
    private func key(_ text: Substring, _ context: FrontContext, opening role: KeyRole?) async throws -> APIKey {
        guard let key = try await keys.authenticate(text) else {
            throw Problem(.unknownKey, "the key was never made, or has been revoked")
        }
        context.notes.keyID = key.id
        // Ops is held back by nothing.
        if !key.role.opens(.opsViewer) { try limits?.take(key: key.id.text, context) }
        return try role.map { try check(key, opens: $0) } ?? key
    }

    private func check(_ key: APIKey, opens role: KeyRole) throws -> APIKey {
        guard key.role.opens(role) else { throw Problem(.wrongRole, "this takes a key of the role \(role.name)") }
        return key
    }

    /// For whom the app may speak.
    func customer(_ request: Request) async throws -> AuthorizedCustomer {
        guard let customerTokens else { return .anybody }
        guard let token = request.headers[.xCustomerToken], !token.isEmpty else {
            throw Problem(.customerTokenRequired, "send X-Customer-Token: JWT")
        }
        guard let now = clock.now else { throw Problem(.databaseUnavailable, "the time is not known yet") }
        return .only(try await customerTokens.verify(token, now: now))
    }
}
