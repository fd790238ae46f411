import Crypto
import SwiftASN1
import X509

/// A request about one certificate (RFC 6960, section 4.1).
struct OCSPQuery {
    /// Encoded; the answer repeats it.
    let certificateID: [UInt8]
    let issuerKeyHash: [UInt8]
    let serialNumber: [UInt8]
    /// The encoded nonce extension.
    let nonce: [UInt8]?

    /// id-pkix-ocsp-nonce, 1.3.6.1.5.5.7.48.1.2.
    private static let nonceIdentifier: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x02]

    init?(_ request: [UInt8]) {
        guard let parts = (try? DER.parse(request))?.parts.first?.parts,
            let list = parts.first(where: { $0.identifier == .sequence }),
            let identifier = list.parts.first?.parts.first, identifier.parts.count == 4
        else { return nil }
        certificateID = Array(identifier.encodedBytes)
        issuerKeyHash = identifier.parts[2].octets
        serialNumber = identifier.parts[3].octets
        let extensions = parts.first { $0.identifier == ASN1Identifier(tagWithNumber: 2, tagClass: .contextSpecific) }
        nonce = extensions?.parts.first?.parts.first { $0.parts.first?.octets == Self.nonceIdentifier }
            .map { Array($0.encodedBytes) }
    }
}

extension OCSPQuery {
    /// A query about an authority's signing certificate, without a nonce.
    init(about authority: StoreAuthority) throws {
        let issuer = try Certificate(derEncoded: authority.certificates[1])
        var name = DER.Serializer()
        try name.serialize(issuer.subject)
        let serialNumber = authority.leaf.serialNumber.bytes
        self.serialNumber = Array(serialNumber)
        issuerKeyHash = Array(Insecure.SHA1.hash(data: issuer.publicKey.subjectPublicKeyInfoBytes))
        certificateID =
            DERItem.sequence([
                .sequence([.objectIdentifier(StoreAuthority.ReceiptDigest.sha1.identifier), .null]),
                .octetString(Array(Insecure.SHA1.hash(data: name.serializedBytes))), .octetString(issuerKeyHash),
                .integer(contents: (serialNumber.first ?? 0) < 0x80 ? self.serialNumber : [0] + serialNumber),
            ]).encoded
        nonce = nil
    }
}

extension ASN1Node {
    /// Empty if the node is primitive.
    fileprivate var parts: [ASN1Node] {
        if case .constructed(let nodes) = content { Array(nodes) } else { [] }
    }

    /// Empty if the node is constructed.
    fileprivate var octets: [UInt8] {
        if case .primitive(let bytes) = content { Array(bytes) } else { [] }
    }
}
