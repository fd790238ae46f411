import Crypto
import Foundation

/// A token as a client makes it, of which each part can be wrong.
struct APIToken {
    static let keyId = "SIMULATED1"
    static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"
    static let key = P256.Signing.PrivateKey()

    var header: [String: Any] = ["alg": "ES256", "kid": keyId, "typ": "JWT"]
    var claims: [String: Any]
    var key = Self.key

    init(at now: Date, _ change: (inout APIToken) -> Void = { _ in }) {
        let seconds = Int(now.timeIntervalSince1970)
        claims = [
            "iss": Self.issuerId, "iat": seconds, "exp": seconds + 300, "aud": "appstoreconnect-v1",
            "bid": "com.example.app",
        ]
        change(&self)
    }

    func text() throws -> String {
        let parts = try [header, claims].map { Self.base64URL(try JSONSerialization.data(withJSONObject: $0)) }
        let input = parts.joined(separator: ".")
        return "\(input).\(Self.base64URL(try key.signature(for: Data(input.utf8)).rawRepresentation))"
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
