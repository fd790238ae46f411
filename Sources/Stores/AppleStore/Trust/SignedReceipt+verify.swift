import Crypto
import Foundation
import RelayCore
import SwiftASN1
import X509

extension SignedReceipt {
    /// Verifies that exactly this receipt was signed by the App Store, or by an added key such as Xcode's.
    ///
    /// Does not check which app the receipt belongs to: see ``StoreScope``. Source: Apple, Receipt Validation
    /// Programming Guide; RFC 5652, section 5.
    public func verify(_ trust: ChainOfTrust) async throws(NotGenuine) -> Genuine {
        guard contentType == .data else { throw NotGenuine(.algorithm, "what it signs is not called data") }
        guard signers.count == 1 else {
            throw NotGenuine(.unsigned, "it has \(signers.count) signers in place of one")
        }
        guard let moment = receipt.creationDate else { throw NotGenuine(.noDate, "it does not say when it was made") }
        let signer = signers[0]
        let digest = try Digest(signer)
        let found = try await trust.signer(certificates, named: signer.identifier, at: moment)
        guard
            found.key.isValidSignature(
                signer.signature, for: try signed(by: signer, digest), signatureAlgorithm: digest.algorithm)
        else { throw NotGenuine(.signature, "the signature is not over this receipt") }
        trust.remember(found)
        return Genuine(isLocal: found.isLocal)
    }

    /// The signed octets: the payload itself, or attributes that contain its digest.
    private func signed(by signer: CMSSigner, _ digest: Digest) throws(NotGenuine) -> ArraySlice<UInt8> {
        guard let attributes = signer.signedAttributes else { return payload }
        guard attributes.contentType == contentType, let claimed = attributes.messageDigest,
            claimed.elementsEqual(digest.hash(payload))
        else { throw NotGenuine(.signature, "the signed attributes are not of this receipt") }
        return attributes.signedOctets[...]
    }

    /// The two digests ever used in receipts. The signature algorithm may not name one.
    private enum Digest {
        case sha1, sha256

        init(_ signer: CMSSigner) throws(NotGenuine) {
            switch (signer.digestAlgorithm, signer.signatureAlgorithm) {
            case (.sha1, .rsaEncryption), (.sha1, .sha1WithRSAEncryption): self = .sha1
            case (.sha256, .rsaEncryption), (.sha256, .sha256WithRSAEncryption): self = .sha256
            default: throw NotGenuine(.algorithm, "it is signed in a way that the App Store does not use")
            }
        }

        var algorithm: Certificate.SignatureAlgorithm {
            switch self {
            case .sha1: .sha1WithRSAEncryption
            case .sha256: .sha256WithRSAEncryption
            }
        }

        func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            switch self {
            case .sha1: Array(Insecure.SHA1.hash(data: bytes))
            case .sha256: Array(SHA256.hash(data: bytes))
            }
        }
    }
}

extension Certificate {
    /// Whether a signer names this certificate.
    func isNamed(_ identifier: CMSSigner.Identifier) -> Bool {
        switch identifier {
        case .issuerAndSerialNumber(let issuer, let serial):
            // One of the two may have a leading zero byte, which DER requires before a set first bit.
            guard serialNumber.bytes.drop(while: { $0 == 0 }) == serial.drop(while: { $0 == 0 }),
                let node = try? DER.parse(Array(issuer)), let name = try? DistinguishedName(derEncoded: node)
            else { return false }
            return name == self.issuer
        case .subjectKeyIdentifier(let identifier):
            return (try? extensions.subjectKeyIdentifier)?.keyIdentifier == identifier
        }
    }
}
