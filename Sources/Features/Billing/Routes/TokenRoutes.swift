import Formats
import Foundation
import HTTPServer
import Hummingbird
import NIOCore
import Relay
import RelayCore

/// `POST /oauth/token`: OAuth 2.0 client credentials (RFC 6749 section 4.4). The client is a publisher, and its secret
/// is one of the publisher's keys.
struct TokenRoutes: Sendable {
    let parts: FrontFeature.Parts

    private static let maximumBytes = 16 << 10

    var routes: [Route] { [.post("/oauth/token", grant)] }

    private func grant(_ request: Request, _ context: FrontContext) async throws -> Response {
        let loan = BodyLoan(parts.keylessBudget)
        defer { loan.end() }
        let form = try FormBody(
            try await BodyReader(maximumBytes: Self.maximumBytes).read(request, on: loan, ofAnyType: true))
        guard let type = form["grant_type"] else { throw Problem(.badRequest, "grant_type is required, once") }
        guard type == "client_credentials" else {
            throw Problem(.unsupportedGrant, "only client_credentials is taken")
        }
        let (id, secret) = try credentials(request.headers[.authorization], form)
        let known = try await parts.authenticator.keys.authenticate(Substring(secret))
        guard let key = known, key.publisher == PublisherID(id), key.role == .publisher else {
            // Failures count against the claimed name, so that guesses do not slow down clients with a valid secret.
            if PublisherID.isValid(id) { try parts.limits.take(key: "refused \(id)", context) }
            // A key of the wrong role gets its own error: a client that has the key may learn the role.
            guard let known, known.publisher == PublisherID(id) else { throw Self.unknownClient }
            throw Problem(
                .unknownKey,
                "client_secret is a key of the role \(known.role.name): this takes one of the role \(KeyRole.publisher.name)"
            )
        }
        context.notes.caller = key.id.text
        try parts.limits.take(key: key.id.text, context)
        guard let token = try await parts.acceptor.store.keys.accessToken(for: Substring(secret)) else {
            throw Self.unknownClient
        }
        return .json { writer in
            writer.beginObject()
            writer.member("access_token", token)
            writer.member("token_type", "bearer")
            writer.member("expires", 0)
            writer.endObject()
        }
    }

    private static var unknownClient: Problem { Problem(.unknownKey, "client_id and client_secret do not match") }

    /// Reads Basic credentials, else form fields. Both parts of Basic are form-encoded (RFC 6749 section 2.3.1), which
    /// changes nothing in a key.
    private func credentials(_ header: String?, _ form: FormBody) throws -> (id: String, secret: String) {
        guard let header else {
            guard let id = form["client_id"], let secret = form["client_secret"] else {
                throw Problem(.missingKey, "send client_id and client_secret, by Basic or as fields")
            }
            return (id, secret)
        }
        guard let (scheme, credentials) = header.halves(at: " "), scheme.lowercased() == "basic",
            credentials.utf8.count <= 1_024,
            let data = Data(base64Encoded: credentials.trimmingCharacters(in: .whitespaces))
        else { throw Self.unknownClient }
        let pair = String(decoding: data, as: UTF8.self)
        guard let (id, secret) = pair.halves(at: ":") else { throw Self.unknownClient }
        return (id.percentDecoded, secret.percentDecoded)
    }
}
