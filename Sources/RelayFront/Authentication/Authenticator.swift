import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// Who asks, and whether the key opens what is asked for.
struct Authenticator: Sendable {
    let keys: KeyRing
    let customerTokens: CustomerTokenVerifier?
    let clock: DatabaseClock

    /// - Throws: ``Problem`` 401 and 403; ``Postgres/PostgresError`` where no key has ever been read yet.
    func key(_ request: Request, _ context: FrontContext, opening role: KeyRole) async throws -> APIKey {
        guard let credentials = BearerCredentials.parse(request.headers[.authorization]) else {
            throw Problem(.missingKey, "send Authorization: Bearer KEY")
        }
        guard let key = try await keys.authenticate(credentials) else {
            throw Problem(.unknownKey, "the key was never made, or has been revoked")
        }
        context.notes.keyID = key.id
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
