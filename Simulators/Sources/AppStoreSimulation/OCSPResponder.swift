import Crypto
import CryptoExtras
public import Foundation
import SwiftASN1
import X509

/// Apple's OCSP responder for simulated authorities: reports whether their certificates are revoked, signed with the
/// issuer's key (RFC 6960).
public struct OCSPResponder: Sendable {
    /// Kind of the answer.
    public enum Answer: String, Sendable, CaseIterable {
        /// Whether the certificate is revoked.
        case usual
        /// The certificate is unknown.
        case unknown
        /// The responder is busy (`tryLater`).
        case tryLater
        /// A good answer, but signed by a stranger in the issuer's name.
        case stranger
        /// A good answer that expired a week ago.
        case stale
        /// Not an OCSP answer.
        case garbage
    }

    private struct Issuer: Sendable {
        let key: SigningKey
        let keyHash: [UInt8]
    }

    public var answer = Answer.usual
    /// Serial numbers in lower-case hexadecimal digits, like ``serialNumbers(of:)``.
    public private(set) var revoked: Set<String> = []
    private let issuers: [Issuer]
    private let leaves: Set<String>

    /// - Throws: if a certificate of an authority cannot be read.
    public init(_ authorities: [StoreAuthority]) throws {
        issuers = try authorities.flatMap { authority in
            try zip(authority.certificates.dropFirst(), authority.issuerKeys).map { bytes, key in
                Issuer(key: key, keyHash: Self.hash(try Certificate(derEncoded: bytes).publicKey))
            }
        }
        leaves = Set(authorities.map { Self.text($0.leaf.serialNumber.bytes) })
    }

    /// Serial numbers of the signing certificate, the authority above it, and the root.
    public static func serialNumbers(of authority: StoreAuthority) throws -> [String] {
        try authority.certificates.map { text(try Certificate(derEncoded: $0).serialNumber.bytes) }
    }

    /// - Parameter name: a serial number, or `leaf` for all signing certificates.
    public mutating func revoke(_ name: String) { revoked.formUnion(named(name)) }

    /// - Returns: whether a revocation was removed.
    @discardableResult public mutating func restore(_ name: String) -> Bool {
        let found = revoked.intersection(named(name))
        revoked.subtract(found)
        return !found.isEmpty
    }

    private func named(_ name: String) -> Set<String> {
        name == "leaf" ? leaves : [String(name.lowercased().drop { $0 == "0" })]
    }

    private static func text(_ serialNumber: some Sequence<UInt8>) -> String {
        let digits = serialNumber.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined(separator: "")
        return String(digits.drop { $0 == "0" })
    }

    /// Identifies an issuer in requests and answers.
    private static func hash(_ key: Certificate.PublicKey) -> [UInt8] {
        Array(Insecure.SHA1.hash(data: key.subjectPublicKeyInfoBytes))
    }

    // MARK: Answering

    /// The answer to a request, in DER.
    public func reply(to request: [UInt8], at now: Date) -> [UInt8] {
        switch answer {
        case .garbage: return Array("It works, but this is no OCSP".utf8)
        case .tryLater: return Self.refusal(3)
        case .usual, .unknown, .stranger, .stale: break
        }
        guard let query = OCSPQuery(request) else { return Self.refusal(1) }
        return reply(to: query, at: now)
    }

    /// An unsolicited answer about an authority's signing certificate, without a nonce.
    ///
    /// - Throws: if a certificate of the authority cannot be read.
    public func statement(about authority: StoreAuthority, at now: Date) throws -> [UInt8] {
        reply(to: try OCSPQuery(about: authority), at: now)
    }

    private func reply(to query: OCSPQuery, at now: Date) -> [UInt8] {
        guard let issuer = issuers.first(where: { $0.keyHash == query.issuerKeyHash }),
            let reply = try? signed(status(query, at: now), for: query, by: issuer, at: now)
        else { return Self.refusal(6) }
        return reply
    }

    /// RFC 6960, section 4.2.1: malformedRequest is 1, tryLater 3, unauthorized 6.
    private static func refusal(_ status: UInt8) -> [UInt8] { DERItem.sequence([.enumerated(status)]).encoded }

    private func status(_ query: OCSPQuery, at now: Date) -> DERItem {
        if answer == .unknown { return .implicitNull(2) }
        guard answer != .stranger, revoked.contains(Self.text(query.serialNumber)) else { return .implicitNull(0) }
        // keyCompromise is 1.
        return .explicit(1, [.generalizedTime(now.addingTimeInterval(-60)), .explicit(0, [.enumerated(1)])])
    }

    private func signed(
        _ status: DERItem, for query: OCSPQuery, by issuer: Issuer, at now: Date
    ) throws -> [UInt8] {
        let written = answer == .stale ? now.addingTimeInterval(-7 * 86_400) : now
        let single = DERItem.sequence([
            DERItem(contents: query.certificateID), status, .generalizedTime(written),
            .explicit(0, [.generalizedTime(written.addingTimeInterval(43_200))]),
        ])
        let extensions = query.nonce.map { [DERItem.explicit(1, [.sequence([DERItem(contents: $0)])])] } ?? []
        let data = DERItem.sequence(
            [.explicit(2, [.octetString(issuer.keyHash)]), .generalizedTime(written), .sequence([single])] + extensions)
        let key = answer == .stranger ? SigningKey.p256(P256.Signing.PrivateKey()) : issuer.key
        let (algorithm, signature) = try key.sign(data.encoded)
        let basic = DERItem.sequence([data, algorithm, .bitString(signature)])
        return DERItem.sequence([
            .enumerated(0),
            .explicit(0, [.sequence([.objectIdentifier(Self.basicResponse), .octetString(basic.encoded)])]),
        ]).encoded
    }

    /// id-pkix-ocsp-basic, 1.3.6.1.5.5.7.48.1.1.
    private static let basicResponse: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x01]
}

extension SigningKey {
    /// With SHA-256. RFC 5758, section 3.2; RFC 8017, appendix C.
    fileprivate func sign(_ bytes: [UInt8]) throws -> (algorithm: DERItem, signature: [UInt8]) {
        let digest = SHA256.hash(data: bytes)
        switch self {
        case .p256(let key):
            let identifier: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
            return (
                .sequence([.objectIdentifier(identifier)]), Array(try key.signature(for: digest).derRepresentation)
            )
        case .rsa(let key):
            let identifier: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]
            return (
                .sequence([.objectIdentifier(identifier), .null]),
                Array(try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
            )
        }
    }
}
