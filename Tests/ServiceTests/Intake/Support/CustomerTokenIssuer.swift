import Crypto
import Foundation

/// A publisher's identity provider: a key pair, its key set, and tokens of all kinds.
struct CustomerTokenIssuer: Sendable {
    let key = P256.Signing.PrivateKey()
    let keyID = "key-1"

    /// JSON Web Key Set (RFC 7517); ES256.
    var jwks: String {
        let point = key.publicKey.x963Representation.dropFirst()
        let (x, y) = (Self.base64URL(point.prefix(32)), Self.base64URL(point.suffix(32)))
        return """
            {"keys":[{"kty":"EC","crv":"P-256","use":"sig","alg":"ES256","kid":"\(keyID)","x":"\(x)","y":"\(y)"}]}
            """
    }

    /// A token, signed by this issuer unless another key is given.
    func token(
        email: String?, expiresIn: Double = 600, notBefore: Double? = nil, verified: Bool? = nil,
        signedBy other: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        var claims: [String: Any] = ["sub": "u-1", "exp": Int(Date().timeIntervalSince1970 + expiresIn)]
        claims["email"] = email
        claims["nbf"] = notBefore.map { Int(Date().timeIntervalSince1970 + $0) }
        claims["email_verified"] = verified
        let signed = try Self.signed(header: #"{"alg":"ES256","typ":"JWT","kid":"\#(keyID)"}"#, claims: claims)
        let signature = try (other ?? key).signature(for: Data(signed.utf8)).rawRepresentation
        return signed + "." + Self.base64URL(signature)
    }

    /// A token with `alg` none and no signature.
    func unsigned(email: String) throws -> String {
        try Self.signed(header: #"{"alg":"none"}"#, claims: ["email": email]) + "."
    }

    /// A token signed by HMAC with the public key as the secret: the classic confusion of algorithms.
    func confused(email: String) throws -> String {
        let signed = try Self.signed(header: #"{"alg":"HS256","kid":"\#(keyID)"}"#, claims: ["email": email])
        let secret = SymmetricKey(data: key.publicKey.x963Representation)
        return signed + "."
            + Self.base64URL(Data(HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: secret)))
    }

    private static func signed(header: String, claims: [String: Any]) throws -> String {
        base64URL(Data(header.utf8)) + "." + base64URL(try JSONSerialization.data(withJSONObject: claims))
    }

    static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
