import CryptoExtras
import Foundation
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

/// A service account, and what it signs.
enum TestAccount {
    static let file = try? ServiceAccountFile.made(tokenURI: "http://127.0.0.1:8092/token")
    static let pushKey = PushKey()
    static let now = Date(timeIntervalSince1970: 1_790_000_000)
    static let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"

    static func assertion(
        header: [String: Any] = [:], claims: [String: Any] = [:], key: _RSA.Signing.PrivateKey? = nil
    ) throws -> String {
        let file = try #require(file)
        func part(_ object: [String: Any]) throws -> String {
            try JSONSerialization.data(withJSONObject: object).base64URL
        }
        let head = ["alg": "RS256", "typ": "JWT", "kid": file.privateKeyId].merging(header) { $1 }
        let body: [String: Any] = [
            "iss": file.clientEmail, "aud": file.tokenUri, "scope": TokenIssuer.scope, "iat": 1_790_000_000,
            "exp": 1_790_000_300,
        ].merging(claims) { $1 }
        let text = try "\(part(head)).\(part(body))"
        let key = try key ?? _RSA.Signing.PrivateKey(pemRepresentation: file.privateKey)
        let signature = try key.signature(for: Data(text.utf8), padding: .insecurePKCS1v1_5)
        return "\(text).\(signature.rawRepresentation.base64URL)"
    }
}
