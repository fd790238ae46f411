import Crypto
import CryptoExtras
public import Foundation
import SwiftASN1
import X509

/// A stand-in for Apple's authorities: a root, an authority below it, and a signing certificate with its key.
///
/// The certificates have the form of Apple's, including markers. Receivers trust them only after an explicit setting
/// (`RELAY_APPLE_EXTRA_ROOTS`).
public struct StoreAuthority: Sendable {
    /// Kind of documents, which decides the kind of the keys.
    public enum Purpose: Sendable {
        /// App receipts: RSA with 2,048 bits.
        case receipts
        /// Signed transactions and notifications: P-256.
        case transactions
    }

    /// Deviations of the certificates from good ones.
    public struct Form: Sendable {
        public var hasLeafMarker = true
        public var hasAuthorityMarker = true
        /// When the signing certificate is valid.
        public var validity: ClosedRange<Date>
        /// Address of the OCSP responder in the certificates, without the path; nil leaves it out.
        public var responder: String? = "http://ocsp.apple.com"

        public init(validity: ClosedRange<Date>) { self.validity = validity }
    }

    /// DER: the signing certificate, the authority, the root.
    public let certificates: [[UInt8]]
    let leaf: Certificate
    let key: SigningKey
    /// Keys of the authority and the root, which sign statements about the certificates below them. Empty if they were
    /// not stored.
    let issuerKeys: [SigningKey]

    public var root: [UInt8] { certificates[2] }

    init(certificates: [[UInt8]], key: SigningKey, issuerKeys: [SigningKey] = []) throws {
        self.certificates = certificates
        self.leaf = try Certificate(derEncoded: certificates[0])
        self.key = key
        self.issuerKeys = issuerKeys
    }

    /// - Parameter name: part of the certificates' names.
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
            if index > 0, let responder = form.responder {
                let address = AuthorityInformationAccess.AccessDescription(
                    method: .ocspServer,
                    location: .uniformResourceIdentifier(responder + Self.responderPaths[index - 1]))
                try extensions.append(
                    Certificate.Extension(AuthorityInformationAccess([address]), critical: false))
            }
            if let marker {
                // NULL, like Apple's markers.
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
            }, key: keys[2], issuerKeys: [keys[1], keys[0]])
    }

    private static let year: TimeInterval = 31_557_600
    private static let signs: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// Paths named after the issuer, like Apple's, for the authority and the signing certificate.
    private static let responderPaths = ["/ocsp03-simulatedroot", "/ocsp03-simulatedwwdr"]
    private static let relations: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
}

/// A private key of the kind that a purpose requires.
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

extension StoreAuthority {
    /// The root certificate, for receivers that must trust it.
    public var rootPEM: String {
        PEMDocument(type: Certificate.defaultPEMDiscriminator, derBytes: root).pemString
    }

    /// Stores the authority for other processes. The files are `NAME-chain.pem`, with the signing certificate first,
    /// and `NAME-key.pem` and `NAME-issuer-keys.pem`, readable only by their owner.
    public func write(to folder: URL, name: String) throws {
        let chain = certificates.map {
            PEMDocument(type: Certificate.defaultPEMDiscriminator, derBytes: $0).pemString + "\n"
        }
        try Data(chain.joined().utf8).write(to: folder.appendingPathComponent("\(name)-chain.pem"))
        for (file, keys) in [("\(name)-key.pem", [key]), ("\(name)-issuer-keys.pem", issuerKeys)] {
            let text = keys.map { $0.pem + "\n" }.joined()
            guard
                FileManager.default.createFile(
                    atPath: folder.appendingPathComponent(file).path, contents: Data(text.utf8),
                    attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
        }
    }

    /// Reads the files of ``write(to:name:)``. A folder of an older version has no issuer keys.
    public init(_ purpose: Purpose, in folder: URL, name: String) throws {
        func text(_ part: String) throws -> String {
            try String(contentsOf: folder.appendingPathComponent("\(name)-\(part).pem"), encoding: .utf8)
        }
        let documents = try PEMDocument.parseMultiple(pemString: text("chain"))
        guard documents.count == 3 else { throw WrongKey() }
        let issuerKeys = (try? text("issuer-keys")).map { try? PEMDocument.parseMultiple(pemString: $0) } ?? nil
        try self.init(
            certificates: documents.map(\.derBytes), key: SigningKey(purpose, pem: text("key")),
            issuerKeys: (issuerKeys ?? []).map { try SigningKey(purpose, pem: $0.pemString) })
    }
}

extension SigningKey {
    init(_ purpose: StoreAuthority.Purpose, pem: String) throws {
        switch purpose {
        case .receipts: self = .rsa(try _RSA.Signing.PrivateKey(pemRepresentation: pem))
        case .transactions: self = .p256(try P256.Signing.PrivateKey(pemRepresentation: pem))
        }
    }

    var pem: String {
        switch self {
        case .rsa(let key): key.pemRepresentation
        case .p256(let key): key.pemRepresentation
        }
    }
}

extension StoreAuthority {
    /// JSON signed like the App Store's: compact, ES256, with the three certificates.
    ///
    /// - Parameters:
    ///   - algorithm: value in the header; the signature is the same.
    ///   - certificates: replace this authority's own in the header.
    /// - Throws: if this authority's key does not suit transactions.
    public func sign(
        json: Data, algorithm: String = "ES256", certificates: [[UInt8]]? = nil
    ) throws -> String {
        guard case .p256(let key) = key else { throw WrongKey() }
        let x5c = (certificates ?? self.certificates).map { "\"\(Data($0).base64EncodedString())\"" }.joined(
            separator: ",")
        let header = #"{"alg":"\#(algorithm)","x5c":[\#(x5c)]}"#
        let input = "\(Self.base64URL(Data(header.utf8))).\(Self.base64URL(json))"
        let signature = try key.signature(for: SHA256.hash(data: Data(input.utf8)))
        return "\(input).\(Self.base64URL(signature.rawRepresentation))"
    }

    struct WrongKey: Error {}

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
