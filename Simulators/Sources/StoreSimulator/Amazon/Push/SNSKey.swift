import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import X509

/// The key that signs SNS messages, with its self-signed certificate.
struct SNSKey: Sendable {
    private struct Pair: Sendable {
        let key: _RSA.Signing.PrivateKey
        /// In PEM.
        let certificate: String
    }

    private let pair: Lazy<Pair>

    /// In PEM.
    var certificate: String { get throws { try pair.value().certificate } }

    init(at now: Date) { pair = Lazy { try Self.makePair(at: now) } }

    private static func makePair(at now: Date) throws -> Pair {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let name = try DistinguishedName { CommonName("sns.amazonaws.com") }
        let issuer = Certificate.PrivateKey(key)
        let extensions = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true, keyEncipherment: true))
            try ExtendedKeyUsage([.serverAuth])
            SubjectAlternativeNames([.dnsName("sns.amazonaws.com")])
        }
        let signed = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: issuer.publicKey,
            notValidBefore: now.addingTimeInterval(-3_600), notValidAfter: now.addingTimeInterval(365 * 86_400),
            issuer: name, subject: name, signatureAlgorithm: .sha256WithRSAEncryption, extensions: extensions,
            issuerPrivateKey: issuer)
        return Pair(key: key, certificate: try signed.serializeAsPEM().pemString + "\n")
    }

    /// - Parameter isForged: whether another key signs.
    func signature(of text: String, _ version: SNSSignatureVersion, isForged: Bool) throws -> Data {
        guard let signer = isForged ? .impostor : try pair.value().key else { return Data() }
        let text = Data(text.utf8)
        return switch version {
        case .sha1:
            try signer.signature(for: Insecure.SHA1.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation
        case .sha256: try signer.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation
        }
    }
}

/// `SignatureVersion` of a message.
enum SNSSignatureVersion: String, Sendable, Codable {
    case sha1 = "1"
    case sha256 = "2"
}
