import HTTPServer
import RelayCore

extension SigningKeys {
    /// Claims of the token that signs a push, after a check of its signature by RS256.
    ///
    /// - Parameters:
    ///   - subject: the token in the text of a refusal.
    ///   - owner: owner of these keys in the text of an error, such as `Roku's`.
    /// - Throws: ``NotificationRefusal``; a ``Problem`` while the keys cannot be read.
    func claims(of token: JSONWebToken, as subject: String, owner: String) async throws -> JSONWebToken.Claims {
        try NotificationRefusal.unless(token.header.alg == "RS256", "algorithm", "\(subject) is not signed by RS256")
        let set: JSONWebKeySet
        do {
            set = try await keys(for: token.header.kid).keys
        } catch let error as Unavailable {
            throw Problem(.storeUnavailable, "\(owner) keys: \(error.detail)")
        }
        guard set.verifies(token), let claims = token.claims else {
            throw NotificationRefusal(code: "signature", detail: "\(subject) is not signed by a key of \(owner)")
        }
        return claims
    }
}

extension JSONWebToken.Claims {
    /// Allowed difference between a store's clock and the database's, in seconds.
    private static let leeway = 30.0

    /// Whether a push with this token is accepted now.
    func isValid(at now: Timestamp) -> Bool {
        let seconds = Double(now.microseconds) / 1_000_000
        return exp.map { seconds < $0 + Self.leeway } ?? false && nbf.map { seconds >= $0 - Self.leeway } ?? true
    }
}
