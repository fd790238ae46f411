package import HTTPServer
package import HTTPTypes
package import Hummingbird
package import RelayCore

/// Identifies the key of a request and checks that its role may use the route.
package struct Authenticator: Sendable {
    package let keys: KeyRing
    let customerTokens: CustomerTokenVerifier?
    let clock: DatabaseClock
    /// Rate limit per key; nil for none.
    var limits: RateLimits?

    static var unknownKey: Problem { Problem(.unknownKey, "the key was never made, or has been revoked") }

    /// - Throws: ``Problem`` 401 and 403; ``Postgres/PostgresError`` if no key has ever been read yet.
    package func key(_ request: Request, _ context: FrontContext, opening role: KeyRole) async throws -> APIKey {
        guard let credentials = BearerCredentials.parse(request.headers[.authorization]) else {
            throw Problem(.missingKey, "send Authorization: Bearer KEY")
        }
        return try await key(credentials, context, opening: role)
    }

    /// Identifies the key of a client that also sends the publisher's name.
    ///
    /// - Parameter query: query of the request, which may contain the name and the key.
    package func key(
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

    /// - Parameter role: nil if the caller checks the role.
    private func key(_ text: Substring, _ context: FrontContext, opening role: KeyRole?) async throws -> APIKey {
        guard let key = try await keys.authenticate(text) else {
            throw Self.unknownKey
        }
        context.notes.caller = key.id.text
        // Operators' keys have no rate limit.
        if !key.role.opens(.opsViewer) { try limits?.take(key: key.id.text, context) }
        return try role.map { try check(key, opens: $0) } ?? key
    }

    /// The key, if it is in memory and its role fits. If nil, callers use ``key(_:_:opening:)``.
    func known(_ headers: HTTPFields, opening role: KeyRole) -> APIKey? {
        BearerCredentials.parse(headers[.authorization]).flatMap { keys.known($0) }
            .flatMap { $0.role.opens(role) ? $0 : nil }
    }

    /// The key of a client that also sends the publisher's name in the header, from memory only.
    package func knownNamed(_ headers: HTTPFields, opening role: KeyRole) -> APIKey? {
        guard let named = NamedCredentials(authorization: headers[.authorization], query: QueryItems(nil)),
            let key = keys.known(named.key[...]), key.publisher == named.publisher, key.role.opens(role)
        else { return nil }
        return key
    }

    private func check(_ key: APIKey, opens role: KeyRole) throws -> APIKey {
        guard key.role.opens(role) else { throw Problem(.wrongRole, "this takes a key of the role \(role.name)") }
        return key
    }

    /// The customer for whom the app may act.
    package func customer(_ request: Request) async throws -> AuthorizedCustomer {
        guard let customerTokens else { return .anybody }
        guard let token = request.headers[.xCustomerToken], !token.isEmpty else {
            throw Problem(.customerTokenRequired, "send X-Customer-Token: JWT")
        }
        guard let now = clock.now else { throw Problem(.databaseUnavailable, "the time is not known yet") }
        return .only(try await customerTokens.verify(token, now: now))
    }

    /// The customer of a token that was verified before. If nil, callers use ``customer(_:)``.
    func knownCustomer(_ headers: HTTPFields) -> AuthorizedCustomer? {
        guard let customerTokens else { return .anybody }
        guard let token = headers[.xCustomerToken], let now = clock.now else { return nil }
        return customerTokens.verified(token, now: now).map { .only($0) }
    }
}

extension DatabaseClock {
    /// - Throws: ``Problem`` 503 if the time is not known yet.
    package func required() throws(Problem) -> Timestamp {
        guard let now else { throw Problem(.databaseUnavailable, "send the same request again") }
        return now
    }
}

/// The customers for whom an app's request may act.
package enum AuthorizedCustomer: Sendable, Equatable {
    /// Any customer: tokens are not required.
    case anybody
    /// The trimmed, lower-cased email of the token.
    case only(CustomerID)

    /// - Throws: ``Problem`` 403.
    func check(_ customer: CustomerID) throws {
        guard case .only(let own) = self, own != customer else { return }
        throw Problem(.anotherCustomer, "the customer token names another email")
    }

    /// Checks a username that is an email. Other usernames pass.
    ///
    /// - Throws: ``Problem`` 403.
    package func check(_ username: Username) throws {
        if let email = CustomerEmail(username.text) { try check(email.customer) }
    }
}

/// The credentials of `Authorization: Bearer …` (RFC 6750 section 2.1).
package enum BearerCredentials {
    /// Nil if there are none.
    package static func parse(_ header: String?) -> Substring? {
        // Compares bytes: iterating over characters would cost more than the whole answer.
        guard let header, let space = header.utf8.firstIndex(of: UInt8(ascii: " ")),
            header.utf8[..<space].elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }),
            let start = header.utf8[space...].firstIndex(where: { $0 != UInt8(ascii: " ") })
        else { return nil }
        return header[start...]
    }
}
