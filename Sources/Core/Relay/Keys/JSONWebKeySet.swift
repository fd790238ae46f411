import Formats
import Foundation
import JWTKit
import RelayCore

/// Keys of a JSON Web Key Set (RFC 7517) that verify tokens.
///
/// A key without `alg` is prepared for each algorithm of its type in advance. So a token's own `alg` only selects among
/// what the set allows, and never changes how a key is used.
struct JSONWebKeySet: Sendable {
    private struct Key: Sendable {
        var id: String?
        var algorithm: String
        var verifier: any JWTAlgorithm
    }

    /// A hostile or broken set must not make every request slow.
    private static let maximumKeys = 64
    private let keys: [Key]

    /// Skips keys of unknown types and keys for encryption.
    ///
    /// - Throws: an error if the text is not a key set, or contains no key that can verify.
    init(json: String) async throws {
        let set = try JSONDecoder().decode(LenientSet.self, from: Data(json.utf8))
        var keys: [Key] = []
        for entry in set.keys.prefix(Self.maximumKeys) {
            guard let jwk = entry.jwk, entry.use ?? "sig" == "sig" else { continue }
            for algorithm in Self.algorithms(of: jwk) {
                var complete = jwk
                // Verifying needs no private part, and swift-crypto aborts the process if it does not fit the modulus.
                complete.privateExponent = nil
                complete.algorithm = algorithm
                complete.keyIdentifier = JWKIdentifier(string: "key")
                guard let verifier = try? await JWTKeyCollection().add(jwk: complete).getKey(alg: algorithm.rawValue)
                else {
                    continue
                }
                keys.append(Key(id: jwk.keyIdentifier?.string, algorithm: algorithm.rawValue, verifier: verifier))
            }
        }
        guard !keys.isEmpty else { throw KeySetError.noUsableKey }
        self.keys = keys
    }

    func knows(_ id: String?) -> Bool {
        id.map { id in keys.contains { $0.id?.isSame(id) == true } } ?? true
    }

    func verifies(_ token: JSONWebToken) -> Bool {
        keys.contains { key in
            key.algorithm == token.header.alg
                && (token.header.kid.flatMap { kid in key.id.map(kid.isSame) } ?? true)
                && (try? key.verifier.verify(token.signature, signs: token.signed)) == true
        }
    }

    private static func algorithms(of jwk: JWK) -> [JWK.Algorithm] {
        if let named = jwk.algorithm { return [named] }
        switch jwk.keyType {
        case .rsa: return [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case .octetKeyPair: return [.eddsa]
        default:
            switch jwk.curve?.rawValue {
            case "P-256": return [.es256]
            case "P-384": return [.es384]
            case "P-521": return [.es512]
            default: return []
            }
        }
    }

    private struct LenientSet: Decodable {
        var keys: [LenientKey]
    }

    private struct LenientKey: Decodable {
        var jwk: JWK?
        var use: String?

        enum CodingKeys: CodingKey { case use }

        init(from decoder: any Decoder) throws {
            jwk = try? JWK(from: decoder)
            use = try? decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .use)
        }
    }
}
