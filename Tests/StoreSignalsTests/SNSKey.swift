import Crypto
import CryptoExtras
import Foundation
import StoreSignals
import SwiftASN1
import X509

/// A key that signs messages like SNS, with its certificate.
struct SNSKey {
    let pem: String
    private let key: _RSA.Signing.PrivateKey

    init() throws {
        key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let name = try DistinguishedName { CommonName("sns.amazonaws.com") }
        let issuer = Certificate.PrivateKey(key)
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: issuer.publicKey,
            notValidBefore: Date(timeIntervalSince1970: 1_700_000_000),
            notValidAfter: Date(timeIntervalSince1970: 1_800_000_000), issuer: name, subject: name,
            signatureAlgorithm: .sha256WithRSAEncryption, extensions: Certificate.Extensions {},
            issuerPrivateKey: issuer)
        pem = try certificate.serializeAsPEM().pemString
    }

    /// A body in SNS's form.
    ///
    /// - Parameter signed: names of the members that the signature covers, in order.
    func body(_ members: [String: String], signing signed: [String], version: String = "1") throws -> [UInt8] {
        var members = members
        let text = Data(signed.map { "\($0)\n\(members[$0] ?? "")\n" }.joined().utf8)
        let signature =
            version == "1"
            ? try key.signature(for: Insecure.SHA1.hash(data: text), padding: .insecurePKCS1v1_5)
            : try key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5)
        members["SignatureVersion"] = version
        members["Signature"] = signature.rawRepresentation.base64EncodedString()
        return Array(try JSONEncoder().encode(members))
    }
}
