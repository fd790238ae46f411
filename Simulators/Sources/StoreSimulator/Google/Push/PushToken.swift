import Foundation
import SimulatorKit

/// Deliberate defect of a push.
enum PushTokenForgery: String, Sendable, Codable {
    /// No `Authorization` header.
    case missing = "none"
    /// Signed by another key under the same id.
    case signature
    case audience
    case issuer
    case email
    /// `email_verified` is false.
    case unverified
    case expired
    /// `alg` is `none`, and there is no signature.
    case algorithm
}

/// The OpenID Connect token of a push.
enum PushToken {
    /// Validity in seconds.
    private static let life = 3_600

    /// - Returns: the value of the `Authorization` header; nil for no header.
    static func authorization(
        _ settings: PushSettings, _ key: PushKey, _ forgery: PushTokenForgery?, at now: Date
    ) throws -> String? {
        guard forgery != .missing else { return nil }
        let moment = Int(now.timeIntervalSince1970) - (forgery == .expired ? 2 * life : 0)
        let claims = Claims(
            aud: forgery == .audience ? "https://example.com/another" : settings.audience,
            email: forgery == .email ? "another@example.iam.gserviceaccount.com" : settings.email,
            emailVerified: forgery != .unverified, exp: moment + life, iat: moment,
            iss: forgery == .issuer ? "https://accounts.example.com" : "https://accounts.google.com")
        let header = Header(alg: forgery == .algorithm ? "none" : "RS256", kid: key.id)
        let text = "\(JSONBody.encode(header).base64URL).\(JSONBody.encode(claims).base64URL)"
        if forgery == .algorithm { return "Bearer \(text)." }
        let signer = forgery == .signature ? key.impostor : key
        return "Bearer \(text).\(try signer?.signature(of: Data(text.utf8)).base64URL ?? "")"
    }

    private struct Header: Encodable {
        let alg: String
        let kid: String
        var typ = "JWT"
    }

    private struct Claims: Encodable {
        let aud: String
        var azp = account
        let email: String
        let emailVerified: Bool
        let exp: Int
        let iat: Int
        let iss: String
        var sub = account

        private static let account = "100000000000000000042"

        enum CodingKeys: String, CodingKey {
            case aud, azp, email, exp, iat, iss, sub
            case emailVerified = "email_verified"
        }
    }
}
