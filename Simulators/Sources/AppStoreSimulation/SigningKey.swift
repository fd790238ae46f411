import Crypto
import CryptoExtras
import Foundation
import X509

/// A private key of the kind that a purpose asks for.
enum SigningKey: Sendable {
    case rsa(_RSA.Signing.PrivateKey)
    case p256(P256.Signing.PrivateKey)

    init(_ purpose: StoreAuthority.Purpose) throws {
        switch purpose {
        case .receipts: self = .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        case .transactions: self = .p256(P256.Signing.PrivateKey())
        }
    }

    var certificateKey: Certificate.PrivateKey {
        switch self {
        case .rsa(let key): Certificate.PrivateKey(key)
        case .p256(let key): Certificate.PrivateKey(key)
        }
    }

    var certificateAlgorithm: Certificate.SignatureAlgorithm {
        switch self {
        case .rsa: .sha256WithRSAEncryption
        case .p256: .ecdsaWithSHA256
        }
    }
}
