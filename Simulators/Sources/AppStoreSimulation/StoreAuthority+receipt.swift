import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import X509

extension StoreAuthority {
    /// The hash that a receipt's signature is over: the App Store changed from the first to the second in 2023.
    public enum ReceiptDigest: Sendable, CaseIterable {
        case sha1, sha256
    }

    /// An app receipt as the App Store writes it: PKCS#7, without signed attributes, the signature over the payload.
    ///
    /// - Parameter certificates: what it brings along in place of this authority's own.
    /// - Throws: where this authority's key is not one for it.
    public func sign(
        _ receipt: SimulatedReceipt, digest: ReceiptDigest = .sha256, certificates: [[UInt8]]? = nil
    ) throws -> [UInt8] {
        guard case .rsa(let key) = key else { throw WrongKey() }
        let payload = receipt.payload
        let signature =
            switch digest {
            case .sha1: try key.signature(for: Insecure.SHA1.hash(data: payload), padding: .insecurePKCS1v1_5)
            case .sha256: try key.signature(for: SHA256.hash(data: payload), padding: .insecurePKCS1v1_5)
            }
        let digestAlgorithm = DERItem.sequence([.objectIdentifier(digest.identifier), .null])
        var issuer = DER.Serializer()
        try issuer.serialize(leaf.issuer)
        let signer = DERItem.sequence([
            .integer(1),
            .sequence([
                DERItem(contents: issuer.serializedBytes), .integer(contents: Array(leaf.serialNumber.bytes)),
            ]),
            digestAlgorithm, .sequence([.objectIdentifier(Self.rsaEncryption), .null]),
            .octetString(Array(signature.rawRepresentation)),
        ])
        let signedData = DERItem.sequence([
            .integer(1), .set([digestAlgorithm]),
            .sequence([.objectIdentifier(Self.data), .explicit(0, [.octetString(payload)])]),
            .explicit(0, (certificates ?? self.certificates).map { DERItem(contents: $0) }), .set([signer]),
        ])
        return DERItem.sequence([.objectIdentifier(Self.signedData), .explicit(0, [signedData])]).encoded
    }

    // RFC 5652, sections 4 and 5.1; RFC 8017, appendix C.
    private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    private static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
}

extension StoreAuthority.ReceiptDigest {
    var identifier: [UInt8] {
        switch self {
        case .sha1: [0x2B, 0x0E, 0x03, 0x02, 0x1A]
        case .sha256: [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
        }
    }
}
