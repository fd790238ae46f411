public import Foundation
import JWTKit

/// A service account of Google Cloud, read from its key file.
///
/// Printing it shows only its address.
public struct ServiceAccount: Sendable, CustomStringConvertible, CustomReflectable {
    /// Names the defect of a file, without any of its content.
    public enum Fault: Error, Sendable, Equatable, CustomStringConvertible {
        case tooLarge, notJSON, otherKind, noAddress, noKey, notAKey

        public var description: String {
            switch self {
            case .tooLarge: "it is larger than 64 KiB"
            case .notJSON: "it is no JSON object"
            case .otherKind: "its type is not service_account: it is another kind of credentials"
            case .noAddress: "it has no client_email"
            case .noKey: "it has no private_key"
            case .notAKey: "its private_key is no RSA key of 2048 bits or more in PEM"
            }
        }
    }

    public let email: String
    let keyID: String?
    let key: Insecure.RSA.PrivateKey

    private static let mostBytes = 65_536

    /// - Parameter json: the key file from Google Cloud.
    public init(json: Data) throws(Fault) {
        guard json.count <= Self.mostBytes else { throw .tooLarge }
        guard let fields = try? JSONSerialization.jsonObject(with: json) as? [String: Any] else { throw .notJSON }
        guard fields["type"] as? String == "service_account" else { throw .otherKind }
        guard let email = fields["client_email"] as? String, email.contains("@"), email.utf8.count <= 320 else {
            throw .noAddress
        }
        guard let pem = fields["private_key"] as? String, !pem.isEmpty else { throw .noKey }
        guard let key = try? Insecure.RSA.PrivateKey(pem: pem) else { throw .notAKey }
        self.email = email
        self.keyID = (fields["private_key_id"] as? String).flatMap { $0.isEmpty ? nil : $0 }
        self.key = key
    }

    public var description: String { "ServiceAccount(\(email))" }
    public var customMirror: Mirror { Mirror(self, children: ["email": email]) }

    private struct Claims: JWTPayload {
        let iss: IssuerClaim
        let scope: String
        let aud: AudienceClaim
        let iat: IssuedAtClaim
        let exp: ExpirationClaim

        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    /// Assertion to exchange for an access token (RFC 7523), valid for five minutes. Google allows an hour.
    ///
    /// - Parameter audience: address that issues the token.
    func assertion(for scope: String, audience: String, at now: Date) async throws -> String {
        let id = keyID.map { JWKIdentifier(string: $0) }
        let keys = await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256, kid: id)
        // Whole seconds, as in Google's own libraries.
        let issued = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        let claims = Claims(
            iss: IssuerClaim(value: email), scope: scope, aud: AudienceClaim(value: audience),
            iat: IssuedAtClaim(value: issued), exp: ExpirationClaim(value: issued.addingTimeInterval(300)))
        return try await keys.sign(claims, kid: id)
    }
}
