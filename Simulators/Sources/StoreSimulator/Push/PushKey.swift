import CryptoExtras
import Foundation
import SimulatorKit

/// The RSA key that signs pushes, like those of Google and Roku.
struct PushKey: Sendable {
    let id: String
    private let key: Lazy<_RSA.Signing.PrivateKey>

    init() {
        key = Lazy { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
        id = UUID().uuidString.lowercased().filter { $0 != "-" }
    }

    private init(id: String, _ key: _RSA.Signing.PrivateKey) {
        self.id = id
        self.key = Lazy { key }
    }

    /// RS256.
    func signature(of text: Data) throws -> Data {
        try key.value().signature(for: text, padding: .insecurePKCS1v1_5).rawRepresentation
    }

    /// Another key under the same id.
    var impostor: PushKey? { _RSA.Signing.PrivateKey.impostor.map { PushKey(id: id, $0) } }

    /// The key set (RFC 7517).
    func set() throws -> some Encodable {
        let numbers = try key.value().publicKey.getKeyPrimitives()
        return ["keys": [Item(kid: id, n: numbers.modulus.base64URL, e: numbers.publicExponent.base64URL)]]
    }

    private struct Item: Encodable {
        let kid: String
        let n: String
        let e: String
        var alg = "RS256"
        var kty = "RSA"
        var use = "sig"
    }
}
