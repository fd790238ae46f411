import Foundation
import SimulatorKit

/// Deliberate defect of a push.
enum RokuForgery: String, Sendable, Codable {
    /// Signed by another key under the same id.
    case signature
    /// Signed by a key that is in no key set.
    case key
    case issuer
    case expired
    /// Not valid yet.
    case early
    /// The content was changed after signing.
    case tampered
    /// `alg` is `none`, and there is no signature.
    case algorithm
    /// The header names another key set.
    case jku
}

/// A push in its signed form: a JSON Web Signature in its compact form.
enum RokuToken {
    static let issuer = "Roku, Inc. urn:roku:apps:partner-service.roku.com"

    /// - Parameter id: id of the message.
    static func text(
        _ message: RokuPushMessage, id: String, _ key: PushKey, _ forgery: RokuForgery?, at now: Date
    ) throws -> String {
        let moment = Int(now.timeIntervalSince1970)
        let shift = forgery == .expired ? -2 * 86_400 : forgery == .early ? 86_400 : 0
        var claims = Claims(
            iss: forgery == .issuer ? "Another" : issuer, exp: moment + shift + 86_400, nbf: moment + shift - 3_600,
            message: message.json.base64URL, key: id)
        let header = Header(
            alg: forgery == .algorithm ? "none" : "RS256", kid: forgery == .key ? "another" : key.id,
            jku: forgery == .jku ? "https://example.com/keys.json" : nil)
        let signed = "\(JSONBody.encode(header).base64URL).\(JSONBody.encode(claims).base64URL)"
        if forgery == .algorithm { return "\(signed)." }
        let signer = [.signature, .key, .jku].contains(forgery) ? key.impostor : key
        let signature = try signer?.signature(of: Data(signed.utf8)).base64URL ?? ""
        guard forgery == .tampered else { return "\(signed).\(signature)" }
        claims.key = UUID().uuidString
        return "\(JSONBody.encode(header).base64URL).\(JSONBody.encode(claims).base64URL).\(signature)"
    }

    private struct Header: Encodable {
        var typ = "JWT"
        let alg: String
        let kid: String
        let jku: String?
    }

    private struct Claims: Encodable {
        let iss: String
        let exp: Int
        let nbf: Int
        let message: String
        var encoding = "base64-utf8"
        var key: String
        var type = "roku.rpay.push"

        private enum CodingKeys: String, CodingKey {
            case iss, exp, nbf
            case message = "x-Roku-message"
            case encoding = "x-Roku-message-encoding"
            case key = "x-Roku-message-key"
            case type = "x-Roku-message-type"
        }
    }
}
