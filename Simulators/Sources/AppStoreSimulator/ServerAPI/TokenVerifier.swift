import Crypto
import Foundation
import SimulatorKit

/// Verifies the tokens of calls. Source: Apple, "Generating JSON Web Tokens for API requests".
struct TokenVerifier: Sendable {
    enum Verification: Sendable {
        case good
        /// A valid token for another app.
        case otherApp
        case bad
    }

    static let audience = "appstoreconnect-v1"
    static let longestLife: Double = 3_600
    /// Seconds by which the issuer's clock may be ahead.
    static let leeway: Double = 60

    let key: P256.Signing.PublicKey
    let keyId: String
    let issuerId: String
    let bundleId: String

    /// - Parameter token: the text after `Bearer`.
    func verify(_ token: String?, at now: Date) -> Verification {
        guard let jws = token.flatMap({ UnverifiedJWS($0) }),
            let header: Header = try? JSONBody.decode(from: jws.header),
            header == Header(alg: "ES256", kid: keyId, typ: "JWT"),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: jws.signature),
            key.isValidSignature(signature, for: jws.signedText),
            let claims: Claims = try? JSONBody.decode(from: jws.payload),
            claims.iss == issuerId, claims.aud == Self.audience, isTimely(claims, at: now.timeIntervalSince1970)
        else { return .bad }
        return claims.bid == bundleId ? .good : .otherApp
    }

    private func isTimely(_ claims: Claims, at now: Double) -> Bool {
        claims.iat <= now + Self.leeway && claims.exp > now && claims.exp > claims.iat
            && claims.exp - claims.iat <= Self.longestLife
    }

    private struct Header: Decodable, Equatable {
        let alg: String
        let kid: String
        let typ: String
    }

    private struct Claims: Decodable {
        let iss: String
        let iat: Double
        let exp: Double
        let aud: String
        let bid: String
    }
}
