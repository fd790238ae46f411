import RelayCore
import SwiftASN1
import X509

extension Certificate {
    /// Whether a signer names this certificate.
    func isNamed(_ identifier: CMSSigner.Identifier) -> Bool {
        switch identifier {
        case .issuerAndSerialNumber(let issuer, let serial):
            // A serial number that begins with a set bit has a zero in front of it in one place and not in the other.
            guard serialNumber.bytes.drop(while: { $0 == 0 }) == serial.drop(while: { $0 == 0 }),
                let node = try? DER.parse(Array(issuer)), let name = try? DistinguishedName(derEncoded: node)
            else { return false }
            return name == self.issuer
        case .subjectKeyIdentifier(let identifier):
            return (try? extensions.subjectKeyIdentifier)?.keyIdentifier == identifier
        }
    }
}
