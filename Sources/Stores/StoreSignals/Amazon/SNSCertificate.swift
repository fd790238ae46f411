public import RelayCore
import SwiftASN1
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A certificate with which Amazon SNS signs messages (source: Amazon SNS Developer Guide, "Verifying the signatures of
/// Amazon SNS messages").
///
/// Its issuers are not verified: SNS vouches for it by the address from which it is fetched.
public struct SNSCertificate: Sendable {
    private let certificate: Certificate

    /// - Throws: ``SignalError`` if the text is not a PEM certificate.
    public init(pem: String) throws(SignalError) {
        do {
            guard let first = try PEMDocument.parseMultiple(pemString: pem).first else {
                throw SignalError(.notANotification, "no certificate")
            }
            certificate = try Certificate(pemDocument: first)
        } catch {
            throw SignalError(.notANotification, "it is no certificate in PEM")
        }
    }

    public func isValid(at moment: Timestamp) -> Bool {
        let date = Date(timeIntervalSince1970: Double(moment.microseconds) / 1_000_000)
        return certificate.notValidBefore <= date && date <= certificate.notValidAfter
    }

    /// Whether its key signed the message, with the algorithm that the message's version prescribes.
    public func verifies(_ message: SNSMessage) -> Bool {
        let algorithm: Certificate.SignatureAlgorithm
        switch message.signatureVersion {
        case .sha1: algorithm = .sha1WithRSAEncryption
        case .sha256: algorithm = .sha256WithRSAEncryption
        case nil: return false
        }
        return certificate.publicKey.isValidSignature(
            message.signature, for: Array(message.signedText.utf8), signatureAlgorithm: algorithm)
    }
}
