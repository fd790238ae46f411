import Crypto
import CryptoExtras
public import Foundation
import SwiftASN1
import X509

/// A stand-in for Apple's authorities: a root, an authority below it and a certificate that signs, with its key.
///
/// The certificates have the form of Apple's, markers included; nobody trusts them who was not told to
/// (`RELAY_APPLE_EXTRA_ROOTS`).
public struct StoreAuthority: Sendable {
    /// What is signed with it, which decides the kind of its keys.
    public enum Purpose: Sendable {
        /// App receipts: RSA with 2,048 bits.
        case receipts
        /// Signed transactions and notifications: P-256.
        case transactions
    }

    /// How the certificates differ from good ones.
    public struct Form: Sendable {
        public var hasLeafMarker = true
        public var hasAuthorityMarker = true
        /// When the signing certificate is valid.
        public var validity: ClosedRange<Date>

        public init(validity: ClosedRange<Date>) { self.validity = validity }
    }

    /// In DER: the certificate that signs, the authority, the root.
    public let certificates: [[UInt8]]
    let leaf: Certificate
    let key: SigningKey

    public var root: [UInt8] { certificates[2] }

    init(certificates: [[UInt8]], key: SigningKey) throws {
        self.certificates = certificates
        self.leaf = try Certificate(derEncoded: certificates[0])
        self.key = key
    }

    /// - Parameter name: stands in the names of the certificates.
    public init(_ purpose: Purpose, name: String, form: Form) throws {
        let keys = try (0..<3).map { _ in try SigningKey(purpose) }
        let wide =
            form.validity.lowerBound.addingTimeInterval(
                -10 * Self.year)...form.validity.upperBound
            .addingTimeInterval(10 * Self.year)
        let names = try ["\(name) Root", "\(name) Authority", "\(name) Signing"].map { text in
            try DistinguishedName { CommonName(text) }
        }
        func certificate(
            _ index: Int, issuer: Int, _ validity: ClosedRange<Date>, marker: ASN1ObjectIdentifier?
        ) throws -> Certificate {
            let isAuthority = index < 2
            var extensions = try Certificate.Extensions {
                Critical(
                    isAuthority
                        ? BasicConstraints.isCertificateAuthority(maxPathLength: nil) : .notCertificateAuthority)
                Critical(
                    KeyUsage(digitalSignature: !isAuthority, keyCertSign: isAuthority, cRLSign: isAuthority))
            }
            if let marker {
                // NULL, as Apple's markers have it.
                try extensions.append(Certificate.Extension(oid: marker, critical: false, value: [5, 0]))
            }
            return try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: keys[index].certificateKey.publicKey,
                notValidBefore: validity.lowerBound, notValidAfter: validity.upperBound, issuer: names[issuer],
                subject: names[index], signatureAlgorithm: keys[issuer].certificateAlgorithm, extensions: extensions,
                issuerPrivateKey: keys[issuer].certificateKey)
        }
        let root = try certificate(0, issuer: 0, wide, marker: nil)
        let authority = try certificate(1, issuer: 0, wide, marker: form.hasAuthorityMarker ? Self.relations : nil)
        let leaf = try certificate(2, issuer: 1, form.validity, marker: form.hasLeafMarker ? Self.signs : nil)
        try self.init(
            certificates: [leaf, authority, root].map { certificate in
                var serializer = DER.Serializer()
                try serializer.serialize(certificate)
                return serializer.serializedBytes
            }, key: keys[2])
    }

    private static let year: TimeInterval = 31_557_600
    private static let signs: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    private static let relations: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
}
