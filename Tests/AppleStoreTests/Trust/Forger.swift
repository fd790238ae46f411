import Crypto
import Foundation
import SwiftASN1
import X509

@testable import AppStoreSimulation

/// Makes certificates that imitate others.
enum Forger {
    private static let relations: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
    private static let signs: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]

    private static func certificate(
        _ subject: String, _ key: P256.Signing.PrivateKey, issuer: String, by signer: P256.Signing.PrivateKey,
        isAuthority: Bool, usage: KeyUsage, marker: ASN1ObjectIdentifier? = nil, alternative: String? = nil
    ) throws -> [UInt8] {
        var extensions = try Certificate.Extensions {
            Critical(
                isAuthority ? BasicConstraints.isCertificateAuthority(maxPathLength: nil) : .notCertificateAuthority)
            Critical(usage)
        }
        if let marker { try extensions.append(Certificate.Extension(oid: marker, critical: false, value: [5, 0])) }
        if let alternative {
            try extensions.append(
                Certificate.Extension(SubjectAlternativeNames([.dnsName(alternative)]), critical: false))
        }
        let made = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: TrustFixture.validity.lowerBound, notValidAfter: TrustFixture.validity.upperBound,
            issuer: DistinguishedName { CommonName(issuer) }, subject: DistinguishedName { CommonName(subject) },
            signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(signer))
        var serializer = DER.Serializer()
        try serializer.serialize(made)
        return serializer.serializedBytes
    }

    /// Certificates with the name of the tests' trusted authority, each of which is signed by all others.
    static func crowd(_ count: Int) throws -> [[UInt8]] {
        let key = P256.Signing.PrivateKey()
        return try (0..<count).map { number in
            try certificate(
                "Test Authority", key, issuer: "Test Authority", by: key, isAuthority: true,
                usage: KeyUsage(keyCertSign: true), marker: relations, alternative: "\(number).example.test")
        }
    }

    static func belowADevelopersKey() throws -> StoreAuthority {
        let (own, middle, leaf) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let name = "StoreKit Testing in Xcode"
        return try StoreAuthority(
            certificates: [
                certificate(
                    "Leaf", leaf, issuer: name, by: middle, isAuthority: false, usage: KeyUsage(digitalSignature: true),
                    marker: signs),
                certificate(
                    name, middle, issuer: name, by: own, isAuthority: true, usage: KeyUsage(keyCertSign: true),
                    marker: relations),
                certificate(
                    name, own, issuer: name, by: own, isAuthority: true,
                    usage: KeyUsage(digitalSignature: true, keyCertSign: true)),
            ], key: .p256(leaf))
    }
}
